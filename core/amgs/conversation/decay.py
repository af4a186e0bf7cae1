"""How what was said fades with time: four models, by the store's clock, in hours.

A weight is in (0, 1] and multiplies what a message is worth, so that nothing gains by time. How important a message is
changes how fast it fades, never the product. Of two equally important messages the newer never weighs less, of two of
one age the more important.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from amgs.decay import hours_between
from amgs.settings import ConversationSettings
from amgs.types.conversation import Message

Floats = NDArray[np.float64]

ORDINARY = 0.5
"""The importance at which a message fades as fast as the half-life says."""
_SWING = 2.0
"""So many times slower fades what is most important, and so many times faster what is least."""
_LEAST = 1e-9


def exponential(ages: Floats) -> Floats:
    """Half at each half-life. ages: (n,) in half-lives."""
    return np.asarray(0.5**ages)


def logarithmic(ages: Floats) -> Floats:
    """Half after one half-life, a third after three, a quarter after seven: 1 / (1 + log2(1 + age))."""
    return np.asarray(1.0 / (1.0 + np.log2(1.0 + ages)))


def step(ages: Floats) -> Floats:
    """Whole until a half-life has passed, then half until the next, and so on."""
    return np.asarray(0.5 ** np.floor(ages))


MODELS: Mapping[str, Callable[[Floats], Floats]] = {
    "exponential": exponential,
    "logarithmic": logarithmic,
    "step": step,
    "adaptive": exponential,
}


def weights(ages: Floats, importance: Floats, settings: ConversationSettings) -> Floats:
    """(n,) in (0, 1] for messages of so many hours, (n,), and importance in [0, 1], (n,); 1 where decay is off."""
    if settings.decay == "none":
        return np.ones_like(ages)
    hours = np.maximum(ages, 0.0)
    slower = _adapted(importance, settings) if settings.decay == "adaptive" else 2.0 * (importance - ORDINARY)
    found = MODELS[settings.decay](hours / (settings.half_life_hours * _SWING**slower))
    lifted = found + (1.0 - found) * settings.recency_boost
    return np.clip(np.where(hours <= settings.recent_hours, lifted, found), _LEAST, 1.0)


def _adapted(importance: Floats, settings: ConversationSettings) -> Floats:
    """(n,) from -2 to 2: twice the swing of the other models, and 0 at the threshold instead of the middle."""
    edge = settings.importance_threshold
    below = (importance - edge) / max(edge, _LEAST)
    above = (importance - edge) / max(1.0 - edge, _LEAST)
    return np.asarray(2.0 * np.where(importance < edge, below, above))


def ages(messages: Sequence[Message], now: datetime) -> Floats:
    """(n,) hours since each message was said; one without a time was said with the one before, and at the beginning
    with the first that has one. All 0 where no time is known.
    """
    known = [m.at for m in messages]
    last = next((at for at in known if at is not None), None)
    found = []
    for at in known:
        last = at or last
        found.append(math.nan if last is None else max(0.0, hours_between(last, now)))
    return np.nan_to_num(np.array(found, dtype=np.float64))
