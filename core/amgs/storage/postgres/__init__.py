"""The store in PostgreSQL: a schema per namespace, and the parts whose SQL differs from DuckDB's."""
