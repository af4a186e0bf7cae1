"""Layers of relevance that the settings switch on: none of them gained on a form that it was not fitted on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, datetime

import numpy as np
from numpy.typing import NDArray

from amgs.conversation.acts import acts
from amgs.conversation.decay import ORDINARY, ages, weights
from amgs.retrieval.shared_names import names
from amgs.settings import ConversationSettings
from amgs.text.intervals.grammar import dates_in
from amgs.types.conversation import Message

Floats = NDArray[np.float64]

LAYER_WEIGHTS = {"shared_entities": 0.8, "shared_dates": 1.1, "open_goals": 0.35, "decay": 1.0}
"""Fitted beside those of `relevance` on two forms of three, rounded; decay is a logarithm already."""
IMPORTANT, SLIGHT = 0.9, 0.25
"""What is promised, wanted or pinned, and what has hardly a word; everything else is ordinary."""
_SURE = 0.5
_HARDLY = 4
_WORD = re.compile(r"[^\W_]+")


def chosen_layers(
    query: str, messages: Sequence[Message], now: datetime, settings: ConversationSettings
) -> dict[str, Floats]:
    """The columns (n,) of the layers that the settings switch on, by their names in LAYER_WEIGHTS.

    shared_entities: the share of the names in the query, speakers aside, that a message has. shared_dates: 1 where a
    message tells of days that the query names. open_goals: 1 where somebody wants or promises something that nobody has
    said is done. decay: the logarithm of what time leaves.
    """
    found: dict[str, Floats] = {}
    if settings.entities:
        found["shared_entities"] = shared_entities(query, messages)
    if settings.dates:
        found["shared_dates"] = shared_dates(query, messages, now)
    if settings.goals:
        found["open_goals"] = open_goals(messages)
    if settings.decay != "none":
        kept = weights(ages(messages, now), importance(messages), settings)
        found["decay"] = np.asarray(np.log(kept))
    return found


def shared_entities(query: str, messages: Sequence[Message]) -> Floats:
    """(n,) in [0, 1]."""
    speakers = {word for m in messages for word in _words(m.speaker)}
    first = next(iter(_WORD.findall(query.lower())), "")
    asked = {word for name in names(query) for word in _words(name)} - speakers - {first}
    if not asked:
        return np.zeros(len(messages))
    return np.array([len(asked & _words(m.text)) / len(asked) for m in messages])


def shared_dates(query: str, messages: Sequence[Message], now: datetime) -> Floats:
    """(n,) 0 or 1; a message without a time tells no days."""
    asked = _days(query, now)
    if not asked:
        return np.zeros(len(messages))
    told = [_days(m.text, m.at) if m.at is not None else [] for m in messages]
    return np.array(
        [float(any(a <= last and first <= b for first, last in days for a, b in asked)) for days in told]
    )


def open_goals(messages: Sequence[Message]) -> Floats:
    """(n,) 0 or 1."""
    found = np.zeros(len(messages))
    for act in acts([m.text for m in messages], [m.speaker or m.role for m in messages]):
        if act.kind != "question" and act.closed_by is None:
            found[act.place] = 1.0
    return found


def importance(messages: Sequence[Message]) -> Floats:
    """(n,) in [0, 1]: how slowly each fades."""
    wanted = open_goals(messages)
    return np.array(
        [
            IMPORTANT
            if wants or m.pinned or m.role == "system"
            else SLIGHT
            if len(_WORD.findall(m.text)) < _HARDLY and not m.calls
            else ORDINARY
            for m, wants in zip(messages, wanted, strict=True)
        ]
    )


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _days(text: str, written: datetime) -> list[tuple[date, date]]:
    """The days that a text surely names."""
    found = [one.interval for one in dates_in(text, written) if one.interval.confidence > _SURE]
    return [one.closed(written.date()) for one in found]
