"""The store in one DuckDB file: all SQL, migrations, the note beside the file; one file per part of the Protocol."""
