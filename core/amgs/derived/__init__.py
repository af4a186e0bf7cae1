"""Data derived from the store for readers: keyword index, vectors, graph, order of blocks, entities; as a single
immutable state at a time.
"""
