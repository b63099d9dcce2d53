"""What can be inferred about a machine: hypotheses, the ideal observer, explorers, ceilings."""
