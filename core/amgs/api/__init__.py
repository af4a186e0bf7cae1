"""Interface to one open memory: a facade for each part of the engine, over one shared context."""
