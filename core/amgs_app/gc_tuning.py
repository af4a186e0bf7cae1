"""Shorten pauses of the screen's thread while other threads work: thread switching and garbage collection.

Measured while models are loaded: a full collection over everything they import takes 100 to 350 ms.
"""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")

SWITCH_SECONDS: Final = 0.001
"""The interpreter's switch interval: the screen gets its turn sooner than by default (5 ms)."""
FULL_EVERY: Final = 200
"""Collections of the middle generation between two full ones; 10 by default, which an import passes many times."""
YOUNG_OBJECTS: Final = 50_000
"""New objects after which a command's garbage is looked for; by default 700, which its imports alone pass 200 times."""
MANY_MODULES: Final = 50
"""From this many newly imported modules on, a call has loaded a library whose objects are excluded from collection."""


@contextmanager
def short_pauses() -> Iterator[None]:
    """Switch threads often and collect fully rarely while the block runs."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(thresholds[0], thresholds[1], FULL_EVERY)
    try:
        yield
    finally:
        gc.unfreeze()
        gc.set_threshold(*thresholds)
        sys.setswitchinterval(interval)


@contextmanager
def pause_collection() -> Iterator[None]:
    """Disable garbage collection while the block runs. If the block imports a library, exclude the library's objects
    from later collections: they never become garbage.
    """
    before = len(sys.modules)
    gc.disable()
    try:
        yield
    finally:
        if len(sys.modules) >= before + MANY_MODULES:
            gc.freeze()
        gc.enable()


@contextmanager
def rare_collections() -> Iterator[None]:
    """Collect garbage rarely while the block runs; for a single command, whose process ends soon."""
    thresholds = gc.get_threshold()
    gc.set_threshold(YOUNG_OBJECTS, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)


def settling(execute: Callable[P, R]) -> Callable[P, R]:
    """Wrap a function: libraries that it imports are excluded from later garbage collections, so that
    these stay short.
    """

    def execute_and_settle(*args: P.args, **named: P.kwargs) -> R:
        before = len(sys.modules)
        try:
            return execute(*args, **named)
        finally:
            if len(sys.modules) >= before + MANY_MODULES:
                gc.freeze()

    return execute_and_settle
