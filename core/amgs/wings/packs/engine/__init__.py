"""Packs: frames that are kept, versioned, read again, and learned from."""
