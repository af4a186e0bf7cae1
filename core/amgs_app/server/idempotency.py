"""Requests that must not be done twice: with an `Idempotency-Key`, the same request again gets the same answer.

The answer is kept in the store, in the transaction that made the change: after a crash there is either both or neither.
Work that searches first, or takes several transactions, holds no lock while it does: it leaves a mark before it begins,
which its answer replaces. A mark that outlives its server says that the work may have been done; where nothing was
written since, it was not, unless several servers share the store: then another may be at it.
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
LONGEST_KEY: Final = 200
_LARGEST: Final = 1_000_000
"""Bytes of an answer that is kept; of a larger one only that it was given."""
_NAME: Final = "answer:"
_LOOKED_BACK: Final = 14
"""Days whose answers are forgotten when a new day's first answer is kept."""


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
    """Return what work gives; what it gave, where the caller sent this request under this key within the last 24 hours.
    The same key waits for itself.

    request: what is asked, on one line. together: work is one transaction, and its answer is kept in it. counted:
    whatever work writes raises the memory's change counter.
    Raises UsageError for a key that was used for another request, RepeatedError for work that a crash ended.
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
            _keep(memory, mark, now, request, begun_at=memory.change_counter if counted else -1)
        try:
            return _do_work(memory, mark, now, request, work)
        except BaseException:
            memory.keep(_name(now, mark), None)  # it failed before its answer: it may be tried again
            raise


def _do_work(memory: Memory, mark: str, now: datetime, request: str, work: Callable[[], Any]) -> Any:
    result = work()
    _keep(memory, mark, now, request, answer=wire.dumps(result).decode())
    return result


def _has_changed_nothing(memory: Memory, record: dict[str, Any], request: str) -> bool:
    """Return whether the begun request cannot have changed anything: the memory is at the same change, and no other
    server can use it.
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
    """Yield one request of a key at a time."""
    with _turns_lock:
        turn = _turns.setdefault(mark, _Turn())
    with turn.lock:
        yield


def _read_record(memory: Memory, mark: str, now: datetime) -> dict[str, Any] | None:
    for day in (now, earlier(now, timedelta(days=1))):
        for value in memory.kept(_name(day, mark)).values():
            record: dict[str, Any] = json.loads(value)
            if datetime.fromisoformat(record["at"]) + KEPT > now:
                return record
    return None


def _answer(record: dict[str, Any], request: str) -> Any:
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


def _keep(
    memory: Memory, mark: str, now: datetime, request: str, *, answer: str | None = None, begun_at: int | None = None
) -> None:
    """Keep an answer; or, without one, that the work was begun at a change counter."""
    if not memory.kept(f"{_NAME}{now:%Y-%m-%d}:"):
        for days in range(2, _LOOKED_BACK):
            for name in memory.kept(f"{_NAME}{earlier(now, timedelta(days=days)):%Y-%m-%d}:"):
                memory.keep(name, None)
    record: dict[str, Any] = {"at": now.isoformat(), "request": _digest(request)}
    if answer is None:
        record["begun_at"] = begun_at
    else:
        record["answer"] = json.loads(answer) if len(answer) <= _LARGEST else None
    memory.keep(_name(now, mark), json.dumps(record, ensure_ascii=False))


def _name(day: datetime, mark: str) -> str:
    return f"{_NAME}{day:%Y-%m-%d}:{mark}"


def _digest(request: str) -> str:
    return hashlib.sha256(request.encode()).hexdigest()
