"""The models that both engines use: which is chosen, and which are loaded."""
