"""Signed focus scores: the baseline without training, and LensNet."""
