"""Blicket-v0: the environment for Gymnasium (single and batched) and JAX, from one table."""
