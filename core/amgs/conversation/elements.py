"""What a message holds that must not be lost or changed: each finding with its class and its place."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Literal, TypeGuard, get_args

from amgs.conversation.acts import commits
from amgs.conversation.slots import slots_in
from amgs.text.sentences import units

ElementClass = Literal[
    "decision", "commitment", "negation", "name", "number", "date", "path", "command", "id"
]
ELEMENT_CLASSES: tuple[ElementClass, ...] = get_args(ElementClass)
EXACT: frozenset[str] = frozenset({"name", "number", "date", "path", "command", "id"})
"""Classes of words that mean something else, or nothing, once they are changed; the others are sentences."""

_NEGATION = re.compile(
    r"\b(?:not|never|no longer|none|neither|nor|nobody|nothing|cannot|without)\b|"
    r"\b(?:do|does|did|is|are|was|were|ca|could|wo|would|should|must|has|have|had|need|ai)n['’]t\b",
    re.IGNORECASE,
)


def elements_of(
    said: str, written: datetime | None, names: re.Pattern[str]
) -> Iterator[tuple[ElementClass, int, int]]:
    """(class, start, end) of each finding in what a message says. names: see `names_of`."""
    for slot, start, end in slots_in(said, written, names):
        if _is_class(slot):
            yield slot, start, end
    for start, end in units(said):
        sentence = said[start:end]
        if commits(sentence):
            yield "commitment", start, end
        if _NEGATION.search(sentence):
            yield "negation", start, end


def _is_class(slot: str) -> TypeGuard[ElementClass]:
    return slot in ELEMENT_CLASSES
