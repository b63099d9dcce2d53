"""Thresholds: the value of a field at which a solver's lift falls to a target."""
