"""The parts of the Protocol as SQL that every backend understands, over a connection that each has of its own.

It is written in DuckDB's names of types; a backend whose database calls them otherwise says so in one place. What is
faster, or possible, in one database alone is overridden in that backend.
"""
