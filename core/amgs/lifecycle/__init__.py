"""The life of a block: taken in, consolidated, reinforced, and every change taken back (AMGS §8)."""
