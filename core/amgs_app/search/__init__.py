"""Searches, and why a block is or is not found."""
