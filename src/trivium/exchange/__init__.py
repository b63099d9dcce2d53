"""Exchange with other tools: exported prompts, imported replies, dataset folders."""
