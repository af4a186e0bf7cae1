"""What completes and explains a line that is typed into."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Completion:
    """A word to offer, and the whole line that it makes."""

    label: str
    line: str


Complete = Callable[[str], Sequence[Completion]]
"""What a beginning may become, the likeliest first; called with every key, so it must be quick."""
Explain = Callable[[str], str]
"""A hint for what stands in the line: the usage of its command."""
