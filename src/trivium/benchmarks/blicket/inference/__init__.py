"""What can be inferred about a machine: hypotheses, ideal observers, explorers and ceilings."""
