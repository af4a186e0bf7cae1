"""What stands beside the packs: the members of one, its readings, what links packs, what they taught, and habits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from amgs_app import operations

if TYPE_CHECKING:
    from amgs_app.calls.call import Call

READINGS: Final = 50
"""Readings of a pack that are shown at most."""
VIEWS: Final[Mapping[str, str]] = {
    "members": "pack show",
    "readings": "pack uses",
    "families": "pack graph",
    "weights": "pack weights",
    "habits": "pack habits",
    "sentences": "pack sentences",
    "text": "pack sentences",
}
"""The views in their order, and the commands whose results they show. sentences: of one pack; text: of all that are
chosen for the question.
"""
_OF_ALL: Final[Mapping[str, Callable[[], Call[Any]]]] = {
    "families": lambda: operations.pack_families.graph(),
    "weights": lambda: operations.pack_learning.weights(),
    "habits": lambda: operations.pack.habits(),
}
"""The views of all packs, in which the chosen one stands out, and what they ask. An operation's module is imported when
it is asked: the first paint does not wait for it.
"""
ASKING: Final = ("sentences", "text")
"""The views that need a question."""


def calls_of(view: str, name: str, question: str, budget: int | None) -> list[Call[Any]]:
    """What is asked for a view of a pack; its members and its last readings are always known."""
    calls: list[Call[Any]] = [operations.pack.show(name), operations.pack.uses(name, limit=READINGS)]
    if view in ASKING and question:
        of = name if view == "sentences" else None
        calls.append(operations.pack_sentences.sentences(question, pack=of, budget=budget))
    if view == "readings":
        calls.append(operations.pack.course(name))
    if view in _OF_ALL:
        calls.append(_OF_ALL[view]())
    return calls


def of_all(command: str) -> str:
    """The view of all packs that shows a command's result, "" for none."""
    return next((view for view in _OF_ALL if VIEWS[view] == command), "")


def next_of(view: str, *, asked: bool) -> str:
    """The view after this one. asked: whether there is a question."""
    views = [each for each in VIEWS if asked or each not in ASKING or each == view]
    return views[(views.index(view) + 1) % len(views)]
