"""The store in a PostgreSQL database: one schema a namespace, and what only PostgreSQL knows of the parts in `sql/`."""
