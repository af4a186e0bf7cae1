"""The working context of a model and its lifetime."""
