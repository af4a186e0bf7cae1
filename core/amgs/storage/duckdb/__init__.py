"""The store in a DuckDB file: connection, migrations, and the note of the last commit beside the file."""
