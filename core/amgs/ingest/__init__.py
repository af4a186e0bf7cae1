"""From files and texts to raw blocks: read, split, hash, name the source (AMGS §8.1)."""
