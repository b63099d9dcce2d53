"""The paper's section 4 from nothing: what is run, and the small files that come of it."""
