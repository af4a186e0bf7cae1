"""Decay of relevance."""
