"""How many threads the products of numpy may take: one, while a question is being answered.

A product that is split waits for its slowest part and for every other split product of the process. Where the cores
have other work, that turns milliseconds into seconds, and a question's own products are too small to gain by it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from typing import Any

from amgs.extras import installed

_LOCK = threading.Lock()
_BEFORE: list[tuple[Any, int]] = []
"""The libraries that are limited now, and how many threads each had."""
_INSIDE = 0


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, products are not split, in no thread of the process; may be entered by several at once. Without the
    package threadpoolctl nothing changes.
    """
    global _INSIDE
    with _LOCK:
        if not _INSIDE:
            _BEFORE[:] = [(library, library.num_threads) for library in _libraries()]
            for library, _ in _BEFORE:
                library.set_num_threads(1)
        _INSIDE += 1
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE -= 1
            if not _INSIDE:
                for library, threads in _BEFORE:
                    library.set_num_threads(threads)


@cache
def _libraries() -> list[Any]:
    """What computes numpy's products."""
    if not installed("threadpoolctl"):
        return []
    found = import_module("threadpoolctl").ThreadpoolController()
    return list(found.select(user_api="blas").lib_controllers)
