"""Titles that are too long for their place, shortened so that they can still be told apart."""

from __future__ import annotations

from collections.abc import Mapping

from amgs_app.render.figures.canvas import cut, width_of

CRUMB = " › "
"""What parts the headings over a section in its title."""


def short_labels(titles: Mapping[str, str], room: int) -> dict[str, str]:
    """Each title in at most `room` cells, by the same key.

    A title that fits stays. Of a section the innermost headings are kept. Where titles begin alike, the words that they
    share are left out. Equal titles stay equal.
    """
    labels = {key: _of_section(title, room) for key, title in titles.items()}
    alike: dict[str, list[str]] = {}
    for key, label in labels.items():
        alike.setdefault(label, []).append(key)
    for keys in alike.values():
        words = {key: _innermost(titles[key]).split() for key in keys}
        if len({*map(tuple, words.values())}) > 1:
            for key in keys:
                shared = max(_shared(words[key], words[other]) for other in keys if other != key)
                rest = " ".join(words[key][min(shared, len(words[key]) - 1) :])
                labels[key] = cut(f"…{rest}" if shared else rest, room)
    return labels


def _of_section(title: str, room: int) -> str:
    """The title if it fits, else its innermost headings, as many as fit; one at least."""
    if width_of(title) <= room:
        return title
    parts = title.split(CRUMB)
    for first in range(1, len(parts)):
        label = "…" + CRUMB.join(parts[first:])
        if width_of(label) <= room:
            return label
    return cut(parts[-1] if len(parts) == 1 else f"…{parts[-1]}", room)


def _innermost(title: str) -> str:
    return title.split(CRUMB)[-1]


def _shared(one: list[str], other: list[str]) -> int:
    """How many words two titles begin with alike."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (mine, theirs) in pairs if mine != theirs), min(len(one), len(other)))
