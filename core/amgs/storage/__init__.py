"""The store: `store.py` is what the engine uses, `opening.py` opens it, `duckdb/` keeps it in a file, `postgres/` on a
server.

Each file holds the SQL of a family of tables and the plain values it reads and writes. The SQL is what both databases
understand, with DuckDB's type names; a backend translates these in a single place and overrides only what is faster or
possible in its own database. Nothing above this package knows the backend or writes SQL (AMGS §5), except the
`store.py` of a wing.
"""
