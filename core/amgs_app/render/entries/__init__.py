"""What shows each type of result, by noun."""
