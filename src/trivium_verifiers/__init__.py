"""Where verifiers finds Trivium: `vf-eval trivium-verifiers`."""

from trivium.adapters.chat_harness import ChatHarness
from trivium.adapters.verifiers import TriviumEnv, TriviumTaskset

__all__ = ["ChatHarness", "TriviumEnv", "TriviumTaskset"]
