"""Conversations, and what of one a model reads."""
