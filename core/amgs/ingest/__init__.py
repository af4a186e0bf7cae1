"""From files and texts to raw blocks: read, split into pieces, hash, record the source (AMGS §8.1)."""
