"""What happened, as rows: the journal of changes and its undo, and the reinforcements."""
