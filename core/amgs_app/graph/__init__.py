"""The graph of blocks: neighbourhoods, paths, edges, entities."""
