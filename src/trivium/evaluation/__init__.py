"""Evaluations: planning them, executing them, and what they cost."""
