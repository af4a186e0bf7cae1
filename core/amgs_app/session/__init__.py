"""One person's view of an engine: the operator, kept drafts, and where snapshots go."""
