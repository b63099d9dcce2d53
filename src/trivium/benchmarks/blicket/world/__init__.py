"""Blicket-v0: the environment for Gymnasium, for batches and for JAX, from one table of rules."""
