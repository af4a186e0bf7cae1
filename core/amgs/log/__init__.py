"""Log of events, as rows: the journal of changes and its undo, and the reinforcements."""
