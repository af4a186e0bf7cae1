"""Searches, and why a block is or is not among what was found."""
