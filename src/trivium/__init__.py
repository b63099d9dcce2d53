"""Trivium: a laboratory for reasoning, with exact answers, known floors and known ceilings."""

__version__ = "0.1.0"
