"""One reader per file format: from bytes to a document."""
