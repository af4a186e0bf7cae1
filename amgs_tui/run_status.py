"""What is running and how far it is: the status line's first matter, and what the panes say that they wait for."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Final

from amgs_tui.engine_worker import OPEN
from amgs_tui.messages import EngineRequest, Progressed
from amgs_tui.widgets.status import Doing, StatusLine, seconds

PATIENCE_SECONDS: Final = 0.5
"""A look that the screen takes by itself is not spoken of before it takes this long."""


@dataclass(eq=False)
class RunStatus:
    """The requests that the engine's threads are busy with, drawn into the status line."""

    line: StatusLine
    _begun: dict[int, tuple[EngineRequest, float]] = field(init=False, default_factory=dict)
    _progress: dict[int, Progressed] = field(init=False, default_factory=dict)
    stopping: bool = False

    def __bool__(self) -> bool:
        """Whether anything runs."""
        return bool(self._begun)

    @property
    def keeps_the_line(self) -> bool:
        """Whether what the operator waits for runs; the screen's own looks give way to what is to be said."""
        return any(
            request.origin == "operator" or request.command == OPEN for request, _ in self._begun.values()
        )

    def add(self, request: EngineRequest) -> None:
        self._begun[request.id] = request, time.perf_counter()
        self.stopping = False

    def update(self, event: Progressed) -> None:
        self._progress[event.request.id] = event

    def remove(self, request: EngineRequest) -> None:
        self._begun.pop(request.id, None)
        self._progress.pop(request.id, None)
        self.stopping = False

    def draw(self, waiting: int) -> float:
        """Bring the line up to date; gives the seconds that what it shows has run, 0 for nothing.

        waiting: how many of the operator's requests wait.
        """
        now = time.perf_counter()
        shown = self._pick(now)
        if shown is None:
            self.line.doing = None
            return 0.0
        request, begun = shown
        seen = self._progress.get(request.id)
        self.line.doing = Doing(
            title="opening the session" if request.command == OPEN else request.title,
            doing=seen.doing if seen else "",
            done=seen.done if seen else 0,
            total=seen.total if seen else 0,
            elapsed=now - begun,
            remaining=seen.remaining if seen else None,
            waiting=waiting,
            stopping=self.stopping,
            stoppable=request.origin == "operator",
        )
        self.line.frame += 1
        return now - begun

    def _pick(self, now: float) -> tuple[EngineRequest, float] | None:
        """What is worth a line: the operator's own before the screen's looks, the older before the newer."""
        worth = [
            (request, begun)
            for request, begun in self._begun.values()
            if request.origin == "operator" or request.command == OPEN or now - begun >= PATIENCE_SECONDS
        ]
        return min(worth, key=lambda run: (run[0].origin != "operator", run[1]), default=None)

    def __str__(self) -> str:
        """What is running and how long it still takes: `consolidate, about 40 s left`; empty while nothing runs."""
        shown = self._pick(time.perf_counter())
        if shown is None:
            return ""
        request, _ = shown
        seen = self._progress.get(request.id)
        left = f", about {seconds(round(seen.remaining))} left" if seen and seen.remaining else ""
        return f"{'the session to open' if request.command == OPEN else request.title}{left}"
