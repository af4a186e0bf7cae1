"""Export of a whole memory to a file that other programs can read, and lossless import."""
