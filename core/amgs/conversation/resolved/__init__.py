"""Meaning of words in messages: resolved on intake, and stored beside the text, which stays as it was said."""
