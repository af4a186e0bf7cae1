"""The store in PostgreSQL: one schema per namespace, and the parts whose SQL differs from DuckDB's."""
