"""The shared nouns: specs, streams, the benchmark contract, dialogues, records, statistics."""
