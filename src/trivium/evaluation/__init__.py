"""Work over many items: executors, evaluations that go on where they stopped."""
