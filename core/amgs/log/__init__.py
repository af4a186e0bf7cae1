"""Logs of changes: the journal with its undo, and reinforcements."""
