"""The memory as a file, and its journal."""
