"""Self-contained HTML pages: a memory or a diagnosis in tables and charts."""
