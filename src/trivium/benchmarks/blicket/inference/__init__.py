"""Exact inference about a machine: hypotheses, the ideal observer, explorers, ceilings."""
