"""The commands, one module each: its docstring is the help, `Flags` its flags, `main` runs it."""
