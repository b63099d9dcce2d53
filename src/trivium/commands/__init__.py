"""The commands, one module each: flags as a dataclass, and a function that does the work."""
