"""Data derived from the store for readers: indexes, graph and order, as one immutable state of it."""
