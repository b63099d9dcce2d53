"""Every benchmark as an Inspect task: any provider, tool-using agents, logs and their viewer."""
