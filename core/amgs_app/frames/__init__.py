"""Frames: assembled, defined, remembered, compared."""
