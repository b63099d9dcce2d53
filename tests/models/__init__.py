"""Tests of the room of language models."""
