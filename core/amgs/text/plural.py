"""A number with its noun."""

from __future__ import annotations


def plural(number: int, noun: str, many: str = "") -> str:
    """`1 block`, `37 blocks`, `2 categories`; many: the plural where it takes more than an s."""
    return f"{number:,} {noun if number == 1 else many or noun + 's'}"


def tell_again(again: int, repeated: int = 0) -> list[str]:
    """`1 holds again`, `3 hold again`, of texts that were set aside and said again; `2 said again`, of others."""
    phrases = [f"{again:,} {'holds' if again == 1 else 'hold'} again"] if again else []
    return [*phrases, f"{repeated:,} said again"] if repeated else phrases
