"""Locations on disk: stores, data folders, the corpus and the sample, and the address of a server."""
