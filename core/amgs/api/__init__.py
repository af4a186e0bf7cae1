"""Interface of an open memory: a class for each part of the engine, over a single shared context."""
