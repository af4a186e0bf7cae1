"""Sessions of agents as they lie on a disk: one type of turn, one reader a format, nothing stored."""
