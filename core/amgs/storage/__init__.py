"""Where a memory is stored; each backend is a package."""
