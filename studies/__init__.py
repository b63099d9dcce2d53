"""Studies made with Trivium; not part of the package."""
