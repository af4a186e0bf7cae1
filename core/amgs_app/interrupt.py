"""Take Ctrl-C while something waits, so that no code on the way swallows it and no progress merely notes it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def take_interrupt() -> Iterator[Callable[[], bool]]:
    """Yield a function that returns once whether Ctrl-C was pressed since. What nobody asked for is passed on at the
    end. Outside the main thread, which alone gets signals, it always returns False.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    pressed = threading.Event()

    def take() -> bool:
        was_pressed = pressed.is_set()
        pressed.clear()
        return was_pressed

    before = signal.signal(signal.SIGINT, lambda *_: pressed.set())
    try:
        yield take
    finally:
        signal.signal(signal.SIGINT, before)
        if take():
            signal.raise_signal(signal.SIGINT)
