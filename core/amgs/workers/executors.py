"""The processes that compute: a pool of this machine's, which ends with the process that began it."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing.connection import wait


@dataclass(frozen=True, slots=True)
class Computing:
    """Where tasks are computed. make: begins it, None for the worker's own process. width: how many it computes at a
    time. words: what it is.
    """

    make: Callable[[], Executor] | None
    width: int
    words: str


def computing(count: int) -> Computing:
    """In so many processes of this machine; one is the worker's own."""
    if count == 1:
        return Computing(None, 1, "one process")
    return Computing(partial(processes, count), count, f"{count} processes")


def processes(count: int) -> Executor:
    """A pool of so many processes, each of which computes with its share of the machine's cores."""
    threads = max(1, (os.cpu_count() or 1) // count)
    return ProcessPoolExecutor(
        count, multiprocessing.get_context("spawn"), initializer=_prepare, initargs=(threads,)
    )


def _prepare(threads: int) -> None:
    """Before anything is imported that reads how many threads it may have."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the worker is interrupted, and ends its pool
    os.environ["OMP_NUM_THREADS"] = str(threads)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_follow, args=(parent.sentinel,), daemon=True).start()


def _follow(sentinel: int) -> None:
    """End with the process that began this one: a pool whose owner was killed would wait for ever."""
    wait([sentinel])
    os._exit(1)
