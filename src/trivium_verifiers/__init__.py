"""Where verifiers finds Trivium: `vf-eval trivium-verifiers`."""

from trivium.adapters.verifiers import ChatHarness, TriviumEnv, TriviumTaskset

__all__ = ["ChatHarness", "TriviumEnv", "TriviumTaskset"]
