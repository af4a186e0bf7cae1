"""`scaleout`: a memory past one file, on a real PostgreSQL, with a file beside it as the control."""
