"""Run a request at most once per `Idempotency-Key`: a repetition gets the same answer.

A one-transaction request stores its answer in that transaction, so that a crash leaves both or neither. Longer work
holds no lock: it stores a mark at its start, which the answer replaces. A mark left by a crash means that the work may
have been done; only if the store is unchanged since, and no other server shares it, may it run again.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final
from weakref import WeakValueDictionary

from amgs import wire
from amgs.clock import earlier
from amgs.errors import RepeatedError, UsageError
from amgs.memory import Memory

KEPT: Final = timedelta(hours=24)
"""How long an answer can be repeated."""
LONGEST_KEY: Final = 200
_LARGEST: Final = 1_000_000
"""Largest answer, in bytes, that is stored; for a larger one only the fact that it was given."""
_NAME: Final = "answer:"
_LOOKED_BACK: Final = 14
"""Days back over which old answers are deleted, at the first stored answer of a day."""


@dataclass(eq=False)
class _Turn:
    lock: threading.Lock = field(default_factory=threading.Lock)


def once(
    memory: Memory,
    caller: str,
    key: str,
    request: str,
    work: Callable[[], Any],
    *,
    together: bool,
    counted: bool = True,
) -> Any:
    """Run `work` and return its result; if this caller sent the same request under this key within 24 hours, return
    that result instead. Concurrent requests with one key wait for each other.

    request: the command line, compared with the earlier one. together: `work` is one transaction, in which its answer
    is stored. counted: everything that `work` writes raises the change counter. Raises UsageError for a key used for
    another request, RepeatedError for work that a crash interrupted.
    """
    mark = hashlib.sha256(json.dumps([caller, key]).encode()).hexdigest()
    now = memory.clock.now()
    with _turn(mark):
        if together:
            with memory.transaction():
                record = _read_record(memory, mark, now)
                return _answer(record, request) if record is not None else _do_work(memory, mark, now, request, work)
        with memory.transaction():  # another server may be asked the same at the same moment
            record = _read_record(memory, mark, now)
            if record is not None and not _has_changed_nothing(memory, record, request):
                return _answer(record, request)
            _store_record(memory, mark, now, request, begun_at=memory.change_counter if counted else -1)
        try:
            return _do_work(memory, mark, now, request, work)
        except BaseException:
            memory.keep(_name_of_day(now, mark), None)  # it failed before its answer: it may be tried again
            raise


def _do_work(memory: Memory, mark: str, now: datetime, request: str, work: Callable[[], Any]) -> Any:
    """Run work and store its answer."""
    result = work()
    _store_record(memory, mark, now, request, answer=wire.dumps(result).decode())
    return result


def _has_changed_nothing(memory: Memory, record: dict[str, Any], request: str) -> bool:
    """Return whether the interrupted request cannot have changed anything: the change counter is the same as at its
    start, and no other server can use the store.
    """
    begun = record.get("begun_at")
    return (
        not memory.changes.shared
        and begun is not None
        and begun == memory.change_counter
        and record["request"] == _digest(request)
    )


_turns: WeakValueDictionary[str, _Turn] = WeakValueDictionary()
_turns_lock = threading.Lock()


@contextmanager
def _turn(mark: str) -> Iterator[None]:
    """Hold the lock of one key while the block runs."""
    with _turns_lock:
        turn = _turns.setdefault(mark, _Turn())
    with turn.lock:
        yield


def _read_record(memory: Memory, mark: str, now: datetime) -> dict[str, Any] | None:
    """Return the stored record of a key, if it is younger than 24 hours."""
    for day in (now, earlier(now, timedelta(days=1))):
        for value in memory.kept(_name_of_day(day, mark)).values():
            record: dict[str, Any] = json.loads(value)
            if datetime.fromisoformat(record["at"]) + KEPT > now:
                return record
    return None


def _answer(record: dict[str, Any], request: str) -> Any:
    """Return the stored answer; raises UsageError or RepeatedError if there is none to repeat."""
    if record["request"] != _digest(request):
        raise UsageError(
            "This Idempotency-Key was used for another request.", way_out="Use a new key for each request."
        )
    if "begun_at" in record:
        raise RepeatedError(
            "A server does this now, or ended while it did, and it may have been done.",
            way_out="Look whether it was: the journal and `frame history` say so. To do it again, use a new key.",
        )
    if record["answer"] is None:
        raise UsageError(
            "This was done already, and its answer was too large to be kept.", way_out="Ask for what it made."
        )
    return wire.decode(record["answer"])


def _store_record(
    memory: Memory, mark: str, now: datetime, request: str, *, answer: str | None = None, begun_at: int | None = None
) -> None:
    """Store the answer, or, without one, that the work began at a change counter. Deletes old records once a day."""
    if not memory.kept(f"{_NAME}{now:%Y-%m-%d}:"):
        for days in range(2, _LOOKED_BACK):
            for name in memory.kept(f"{_NAME}{earlier(now, timedelta(days=days)):%Y-%m-%d}:"):
                memory.keep(name, None)
    record: dict[str, Any] = {"at": now.isoformat(), "request": _digest(request)}
    if answer is None:
        record["begun_at"] = begun_at
    else:
        record["answer"] = json.loads(answer) if len(answer) <= _LARGEST else None
    memory.keep(_name_of_day(now, mark), json.dumps(record, ensure_ascii=False))


def _name_of_day(day: datetime, mark: str) -> str:
    """Return the name under which a key's record of a day is stored."""
    return f"{_NAME}{day:%Y-%m-%d}:{mark}"


def _digest(request: str) -> str:
    return hashlib.sha256(request.encode()).hexdigest()
