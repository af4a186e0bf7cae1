"""Frames (texts within a token budget, made of blocks): assemble, define, list, compare."""
