"""The Inspect backend: every benchmark as an Inspect task, with any provider, tools and logs."""
