"""Experiments with people on a web page, on the same items and scored by the same code."""
