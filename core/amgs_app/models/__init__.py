"""The models that the engines ask: which stands behind a Protocol, and which are loaded."""
