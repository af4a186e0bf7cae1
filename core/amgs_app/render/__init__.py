"""Render results: tables, sentences and figures, the same with and without a screen."""
