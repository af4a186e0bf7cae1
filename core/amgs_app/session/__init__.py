"""One person's view of an engine: the operator, drafts saved between sessions, and where snapshots are written."""
