"""How relevance fades."""
