"""Learners of the blicket world: reinforcement, imitation, and the paper's study of them."""
