"""Reading what replies say about blickets and machines, in prompts and in games."""
