"""Records for people: tables, the page, the gallery."""
