"""A language model that somebody brings, as far as the memory needs one: text in, text out. Nothing depends on it."""

from __future__ import annotations

from typing import Protocol


class TextModel(Protocol):
    """Writes text. What it says is a proposal: rules check it before anything comes of it."""

    @property
    def name(self) -> str:
        """By which what it wrote is marked."""
        ...

    def write(self, prompt: str, most_tokens: int) -> str:
        """Return what it says to a prompt, in about so many tokens at most. Raises ModelError where it does not answer
        in the time that it was given, or says nothing that can be read.
        """
        ...
