"""Trivium inside other libraries: verifiers, reasoning-gym, Gymnasium and OpenEnv."""
