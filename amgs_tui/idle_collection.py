"""Full garbage collections while nobody waits: the pictures of widgets lie in cycles that outlive their widget."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import lru_cache
from inspect import getattr_static
from typing import Any, Final

from textual._styles_cache import StylesCache

REST_SECONDS: Final = 0.1
"""So long no key must have been pressed, and as long as the last collection took: a held one repeats sooner."""
DUE_AFTER: Final = 20
"""Collections of the middle generation after which a full one is due, some fifteen acts. Without rest it comes by
itself, after `amgs_app.gc_tuning.FULL_EVERY`."""


class IdleCollection:
    """Collects in full when enough has gathered, the operator rests and nothing runs.

    busy: whether the engine is at work. perf: seconds, monotonic. spent: seconds of processor time of the thread; on a
    crowded machine a collection's wall time says little of its length.
    """

    def __init__(
        self,
        busy: Callable[[], bool],
        perf: Callable[[], float] = time.perf_counter,
        spent: Callable[[], float] = time.thread_time,
    ) -> None:
        self._busy = busy
        self._perf = perf
        self._spent = spent
        self._acted = perf()
        self._pause = 0.0

    def note_act(self) -> None:
        """Note a key press or mouse move of the operator."""
        self._acted = self._perf()

    def tick(self) -> None:
        """Collect if it is due and nobody waits."""
        rest = max(REST_SECONDS, self._pause)
        if gc.get_count()[2] < DUE_AFTER or self._perf() - self._acted < rest or self._busy():
            return
        began = self._spent()
        gc.collect()
        self._pause = self._spent() - began


def end_with_widgets() -> None:
    """Have the pictures of a removed widget end with it; nothing is done where Textual does so itself.

    Textual's cache of inner and outer colours holds the widget's whole styles cache as a part of its key (8.2.8:
    `lru_cache` on what was meant as a class method): up to 1024 widgets' strips. Here the colours alone are the key.
    """
    attribute: Any = getattr_static(StylesCache, "get_inner_outer")
    if not isinstance(attribute, (classmethod, staticmethod)):
        colours = attribute.__wrapped__
        type.__setattr__(
            StylesCache,
            "get_inner_outer",
            staticmethod(lru_cache(1024)(lambda base, background: colours(StylesCache, base, background))),
        )
