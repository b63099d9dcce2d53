"""How much of identifying_variables the data decide, by noise in the table."""
