"""The tables of results, by noun."""
