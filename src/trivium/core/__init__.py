"""The shared nouns: specs, streams, items, records, statistics."""
