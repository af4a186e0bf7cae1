"""Commands that the operator has run in this session, by any key or word, newest first."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from amgs_tui.messages import EngineEvent, Failed, Finished, RequestCancelled

MOST: Final = 500
"""Most commands stored."""


@dataclass(frozen=True, slots=True)
class RunCommand:
    """A command as it would be typed, and its outcome. elapsed: seconds; 0 if not measured."""

    at: datetime
    line: str
    said: str
    done: bool = True
    elapsed: float = 0.0


class CommandLog:
    """Stores sentences, not results, which may be large."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._entries: deque[RunCommand] = deque(maxlen=MOST)

    @property
    def entries(self) -> tuple[RunCommand, ...]:
        """Commands, newest first."""
        return tuple(self._entries)

    def hear(self, event: EngineEvent) -> RunCommand | None:
        """Store and return the outcome of an operator's command; None for other reports."""
        entry = self._entry(event)
        if entry is not None:
            self._entries.appendleft(entry)
        return entry

    def _entry(self, event: EngineEvent) -> RunCommand | None:
        if not isinstance(event, Finished | Failed | RequestCancelled) or event.request.origin != "operator":
            return None
        line = event.request.title
        if isinstance(event, Finished):
            from amgs_app.render.catalogue import sentence_of

            outcome = sentence_of(event.result) or "done"
            return RunCommand(self._now(), event.answer.line or line, outcome, elapsed=event.elapsed)
        outcome = event.title if isinstance(event, Failed) else "replaced" if event.superseded else "stopped"
        return RunCommand(self._now(), line, outcome, done=False)
