"""Messages to the operator in the status line, in toasts, or on a page for fatal errors; first the running request and
its progress.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from textual.content import Content

from amgs_app.terminal.output import printable
from amgs_app.terminal.themes import ThemeError, explain
from amgs_tui.engine_worker import OPEN
from amgs_tui.messages import EngineRequest, Progressed
from amgs_tui.widgets.bars import Doing, Kind, Said, StatusLine, seconds

if TYPE_CHECKING:
    from textual.app import App

    from amgs_tui.messages import Failed


PATIENCE_SECONDS: Final = 0.5
"""Requests of the screen itself are not shown before they take this long."""


@dataclass(eq=False)
class RunStatus:
    """The requests that run, shown in the status line."""

    line: StatusLine
    _begun: dict[int, tuple[EngineRequest, float]] = field(init=False, default_factory=dict)
    _background: int | None = field(init=False, default=None)
    _progress: dict[int, Progressed] = field(init=False, default_factory=dict)
    stopping: bool = False

    def __bool__(self) -> bool:
        """Return whether anything runs."""
        return bool(self._begun)

    @property
    def keeps_the_line(self) -> bool:
        """Return whether a request runs that the operator waits for; others give way to messages."""
        return any(request.origin == "operator" or request.command == OPEN for request, _ in self._begun.values())

    def add(self, request: EngineRequest, *, background: bool = False) -> None:
        if background:
            self._background = request.id
        self._begun[request.id] = request, time.perf_counter()
        self.stopping = False

    def update(self, event: Progressed) -> None:
        self._progress[event.request.id] = event

    def remove(self, request: EngineRequest) -> None:
        self._begun.pop(request.id, None)
        self._progress.pop(request.id, None)
        self.stopping = False

    def draw(self, waiting: int) -> float:
        """Update the line; return for how many seconds the request shown has run, 0 for none. waiting: number of the
        operator's waiting requests.
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
            remaining=self._remaining(request, now),
            waiting=waiting,
            stopping=self.stopping,
            stoppable=request.origin == "operator",
        )
        self.line.frame += 1
        return now - begun

    def _remaining(self, request: EngineRequest, now: float) -> float | None:
        """Return the remaining seconds by the last estimate; None if they have passed or the request is
        being stopped.
        """
        seen = self._progress.get(request.id)
        if seen is None or seen.remaining is None or self.stopping:
            return None
        left = self._begun[request.id][1] + seen.elapsed + seen.remaining - now
        return left if left > 0 else None

    def _pick(self, now: float) -> tuple[EngineRequest, float] | None:
        """Return the request to show: the operator's before the screen's, older before newer, background
        last in each.
        """
        worth = [
            (request, begun)
            for request, begun in self._begun.values()
            if request.origin == "operator" or request.command == OPEN or now - begun >= PATIENCE_SECONDS
        ]
        return min(
            worth, key=lambda run: (run[0].origin != "operator", run[0].id == self._background, run[1]), default=None
        )

    def __str__(self) -> str:
        """Return what is running and its remaining time: `consolidate, about 40 s left`; "" if nothing runs."""
        now = time.perf_counter()
        shown = self._pick(now)
        if shown is None:
            return ""
        request, _ = shown
        remaining = self._remaining(request, now)
        left = f", about {seconds(round(remaining))} left" if remaining else ""
        return f"{'the session to open' if request.command == OPEN else request.title}{left}"


FADES_SECONDS: Final = 15.0
"""How long the status line keeps a message."""
OVER_SECONDS: Final = 4.0
"""How long a message covers what is running."""
MOST_REFUSALS: Final = 4
"""Most rejected inputs listed in a toast."""


@dataclass(eq=False)
class Notices:
    """Sentences in the status line, which fade; toasts for longer ones; dialogs for fatal errors."""

    app: App[Any]
    line: StatusLine
    runs: RunStatus
    _said_at: float = field(default=0.0, init=False)
    _overheard: str = field(default="", init=False)

    def say(self, text: str, kind: Kind = "note") -> None:
        """Show a sentence in the status line, for a while over the running request."""
        self.line.said, self._said_at = Said(text, kind), time.perf_counter()
        self.line.over = bool(self.runs)

    def overhear(self, text: str) -> None:
        """Show another client's action if there is no message and the operator waits for nothing."""
        free = self.line.said.text in ("", self._overheard)
        if free and not self.runs.keeps_the_line:
            self._overheard = text
            self.say(text)

    def drop_error(self) -> None:
        """Remove an earlier error, since the operator has begun something new."""
        if self.line.said.kind in ("bad", "warn"):
            self.line.said = Said("")

    def fade(self) -> None:
        """Uncover the running request after a while, and later remove the message."""
        age = time.perf_counter() - self._said_at
        if self.line.over and age >= OVER_SECONDS:
            self.line.over = False
        if self.line.said.text and age >= FADES_SECONDS:
            self.line.said = Said("")

    def error(self, title: str, message: str, way_out: str = "") -> None:
        """Report an error and what to do, once: in the status line if it fits, else in a toast."""
        line = f"{title}: {message} {way_out}".rstrip()
        # The line spans the screen, and has no width of its own while a prompt stands in its place.
        if len(line) < self.app.size.width and "\n" not in line and not self.runs.keeps_the_line:
            self.say(line, "bad")
        else:
            words = f"{message}\n{way_out}".rstrip()
            self.app.notify(words, title=title, severity="error", timeout=12)

    def warn(self, title: str, words: str, seconds: float = 10) -> None:
        """Show a warning as a toast for `seconds`."""
        self.app.notify(words, title=title, severity="warning", timeout=seconds)

    def refusals(self, result: object) -> None:
        """Report inputs that were rejected, or not ingested as intended, by name."""
        from amgs.lifecycle.revision import RevisionPlan
        from amgs.types import IngestReport

        if not isinstance(result, IngestReport | RevisionPlan):
            return
        for group, title in ((result.refused, "not taken in"), (result.warnings, "not read as meant")):
            if group:
                lines = [f"{refusal.source}: {refusal.reason}" for refusal in group[:MOST_REFUSALS]]
                more = len(group) - len(lines)
                lines += [f"and {more} more"] if more else []
                self.warn(f"{len(group)} {title}", "\n".join(lines))

    def name_skipped_themes(self, problems: Sequence[ThemeError]) -> None:
        """Report theme files that were skipped."""
        if problems:
            self.warn(ThemeError.title, explain(problems))

    def report_ignored(self, lines: Sequence[str]) -> None:
        """Report settings that are ignored."""
        if lines:
            self.warn("Settings ignored" if len(lines) > 1 else "Setting ignored", "\n".join(lines), 12)

    def name_ignored_keys(self, problems: Sequence[str]) -> None:
        """Report key settings that are ignored."""
        if problems:
            way_out = "Your other keys work. Correct [screen.keys] or [screen.commands] in the settings."
            words = "\n".join((*problems, way_out))
            self.warn("Key bindings ignored" if len(problems) > 1 else "Key binding ignored", words, 12)

    def fault(self, failure: Failed) -> None:
        """Show the full report of a program error, to read and copy."""
        from amgs_tui.dialogs.reader import TextReader

        words = f"{failure.message}\n\n{failure.way_out}\n\n{failure.detail}"
        self.app.push_screen(TextReader(failure.title, Content(printable(words))))

    def fatal(self, failure: Failed) -> None:
        """Show a fatal error, once."""
        from amgs_tui.dialogs.reader import Fatal

        if not isinstance(self.app.screen, Fatal):
            self.app.push_screen(Fatal(failure))
