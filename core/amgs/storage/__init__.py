"""The store: `store.py` is what the engine asks, `opening.py` opens one, `duckdb/` keeps it in a file, `postgres/` on a
server.

One file per family of tables holds its SQL and the plain values that go over it. The SQL is what every database
understands, in DuckDB's names of types; a backend whose database calls them otherwise says so in one place, and
overrides what is faster, or possible, in its database alone. Nothing above this package knows a backend or writes SQL
(AMGS §5), but for the `store.py` of a wing, which does in SQL what one file does here.
"""
