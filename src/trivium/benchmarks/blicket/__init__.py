"""The blicket detector: causal overhypotheses, found by experimenting."""
