"""Full garbage collections while nobody waits, since drawings of widgets are in cycles that outlive their widget."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from functools import lru_cache
from inspect import getattr_static
from typing import Any, Final

from textual._styles_cache import StylesCache

REST_SECONDS: Final = 0.1
"""Least time since the last key, as is the duration of the last collection; a held key repeats faster."""
DUE_AFTER: Final = 20
"""Middle-generation collections after which a full collection is due, after some fifteen acts. Without a rest, it runs
after `amgs_app.gc_tuning.FULL_EVERY`.
"""


class IdleCollection:
    """Runs a full collection when it is due, the operator rests and nothing runs.

    busy: whether the engine is working. perf: monotonic clock in seconds. spent: CPU time of the thread in seconds,
    since wall time says little on a busy machine.
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
        """Note a key press or mouse move."""
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
    """Free the drawings of a widget when it is removed, unless Textual does so itself.

    Textual 8.2.8 caches colours by a key that includes the widget's whole style cache, and so keeps up to 1024 widgets'
    drawings; here the key is only the colours.
    """
    attribute: Any = getattr_static(StylesCache, "get_inner_outer")
    if not isinstance(attribute, (classmethod, staticmethod)):
        colours = attribute.__wrapped__
        type.__setattr__(
            StylesCache,
            "get_inner_outer",
            staticmethod(lru_cache(1024)(lambda base, background: colours(StylesCache, base, background))),
        )
