"""The whole memory as a file that others can read, and back without loss."""
