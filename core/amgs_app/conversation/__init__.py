"""Conversations, and the context that is chosen from them for a model."""
