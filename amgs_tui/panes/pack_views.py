"""What stands beside the packs: the members of one, when it was read, what links it to others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from amgs_app import operations
from amgs_app.calls.call import Call

READINGS: Final = 50
"""Readings of a pack that are shown at most."""
VIEWS: Final[Mapping[str, str]] = {
    "members": "pack show",
    "readings": "pack uses",
    "families": "pack graph",
    "sentences": "pack sentences",
    "text": "pack sentences",
}
"""The views in their order, and the commands whose results they show. sentences: of one pack; text: of all that are
chosen for the question.
"""
ASKING: Final = ("sentences", "text")
"""The views that need a question."""


def calls_of(view: str, name: str, question: str, budget: int | None) -> list[Call[Any]]:
    """What is asked for a view of a pack; its members and its last readings are always known."""
    calls: list[Call[Any]] = [operations.pack.show(name), operations.pack.uses(name, limit=READINGS)]
    if view in ASKING and question:
        of = name if view == "sentences" else None
        calls.append(operations.pack_sentences.sentences(question, pack=of, budget=budget))
    if view == "families":
        calls.append(operations.pack_families.graph())
    return calls


def next_of(view: str, *, asked: bool) -> str:
    """The view after this one. asked: whether there is a question."""
    views = [each for each in VIEWS if asked or each not in ASKING or each == view]
    return views[(views.index(view) + 1) % len(views)]
