"""The graph: neighbourhoods, paths, edges, entities."""
