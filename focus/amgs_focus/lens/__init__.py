"""Signed focus scores: the baseline without training, the LensNet, and the search for a question."""
