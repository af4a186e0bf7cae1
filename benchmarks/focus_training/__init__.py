"""Training that the engine does not need: lenses on measured labels, adapters, and the joint schedule."""
