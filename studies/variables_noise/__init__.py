"""How well one statistical test does on identifying_variables, by noise in the table."""
