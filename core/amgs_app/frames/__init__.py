"""Frames (texts within a token budget, built from blocks): assemble, define, list, compare."""
