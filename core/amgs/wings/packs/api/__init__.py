"""`memory.packs`, in one file for each thing that is done with packs."""
