"""Signed focus scores: the baseline without training, the linear lens, and the search for a question."""
