"""Keyword and vector indexes: derived from the store, rebuildable, checked against it at open."""
