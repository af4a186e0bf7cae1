"""What other memories and chat programs export, as drafts of blocks: one module a format."""
