"""The loop: ingest, assemble, refocus, decode; every step can be undone."""
