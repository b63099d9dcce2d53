"""The blicket detector: inferring causal overhypotheses by experimenting.

`extension.toml` declares what the package adds to the library. The drawn page of the web experiment
is declared in the game's class.
"""
