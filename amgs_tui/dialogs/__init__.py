"""Screens on top of the panes: questions, forms, and texts to read."""
