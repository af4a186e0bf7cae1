"""Screens above the panes: questions, forms, and texts to read."""
