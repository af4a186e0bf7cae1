"""The runtime graph: materialised from the edge list, measured and walked (AMGS §5.3, §7.4)."""
