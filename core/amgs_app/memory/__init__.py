"""Blocks: found, shown, corrected; and the sources they came from."""
