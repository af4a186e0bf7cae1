"""How packs are stored, chosen for a question, read and learned from."""
