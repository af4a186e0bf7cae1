"""Requests that must not be done twice: with an `Idempotency-Key`, the same request again gets the same answer.

The answer is kept in the store, in the transaction that made the change: after a crash there is either both or neither.
Work that takes several transactions is kept after the last of them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import nullcontext
from datetime import datetime, timedelta
from typing import Any, Final

from amgs import wire
from amgs.errors import UsageError
from amgs.memory import Memory

PACKAGES: Final = frozenset({"amgs", "amgs_app", "amgs_focus"})
KEPT: Final = timedelta(hours=24)
LONGEST_KEY: Final = 200
_LARGEST: Final = 1_000_000
"""Bytes of an answer that is kept; of a larger one only that it was given."""
_NAME: Final = "answer:"
_LOOKED_BACK: Final = 14
"""Days whose answers are forgotten when a new day's first answer is kept."""


def once(
    memory: Memory, caller: str, key: str, request: str, work: Callable[[], Any], *, together: bool
) -> Any:
    """What work gives; what it gave, where the caller sent this request under this key within the last 24 hours.

    request: what is asked, on one line. together: work is one transaction, and its answer is kept in it.
    Raises UsageError for a key that was used for another request.
    """
    mark = hashlib.sha256(json.dumps([caller, key]).encode()).hexdigest()
    now = memory.clock.now()
    with memory.transaction() if together else nullcontext():
        found = _kept(memory, mark, now)
        if found is not None:
            return _answer(found, request)
        result = work()
        _keep(memory, mark, now, request, wire.dumps(result).decode())
        return result


def _kept(memory: Memory, mark: str, now: datetime) -> dict[str, Any] | None:
    for day in (now, now - timedelta(days=1)):
        for value in memory.kept(_name(day, mark)).values():
            found: dict[str, Any] = json.loads(value)
            if datetime.fromisoformat(found["at"]) + KEPT > now:
                return found
    return None


def _answer(found: dict[str, Any], request: str) -> Any:
    if found["request"] != _digest(request):
        raise UsageError(
            "This Idempotency-Key was used for another request.", way_out="Use a new key for each request."
        )
    if found["answer"] is None:
        raise UsageError(
            "This was done already, and its answer was too large to be kept.", way_out="Ask for what it made."
        )
    return wire.decode(found["answer"], PACKAGES)


def _keep(memory: Memory, mark: str, now: datetime, request: str, answer: str) -> None:
    if not memory.kept(f"{_NAME}{now:%Y-%m-%d}:"):
        for days in range(2, _LOOKED_BACK):
            for name in memory.kept(f"{_NAME}{now - timedelta(days=days):%Y-%m-%d}:"):
                memory.keep(name, None)
    whole = json.loads(answer) if len(answer) <= _LARGEST else None
    told = {"at": now.isoformat(), "request": _digest(request), "answer": whole}
    memory.keep(_name(now, mark), json.dumps(told, ensure_ascii=False))


def _name(day: datetime, mark: str) -> str:
    return f"{_NAME}{day:%Y-%m-%d}:{mark}"


def _digest(request: str) -> str:
    return hashlib.sha256(request.encode()).hexdigest()
