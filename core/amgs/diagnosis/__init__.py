"""Diagnose why an answer missed a fact and find what would bring it in."""
