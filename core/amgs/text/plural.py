"""A number with its noun."""

from __future__ import annotations


def plural(number: int, noun: str, many: str = "") -> str:
    """`1 block`, `37 blocks`, `2 categories`; many: the plural where it takes more than an s."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"
