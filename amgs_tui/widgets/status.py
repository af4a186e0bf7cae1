"""The line above the keys: what runs, its progress and how to stop it, or what was done last."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from amgs_app.terminal.printable import printable_line


@dataclass(frozen=True, slots=True)
class Doing:
    """A running action. done of total units (total 0: unknown); elapsed and remaining in seconds."""

    title: str
    doing: str = ""
    done: int = 0
    total: int = 0
    elapsed: float = 0.0
    remaining: float | None = None
    waiting: int = 0
    stopping: bool = False
    stoppable: bool = True


Kind = Literal["note", "good", "warn", "bad"]


@dataclass(frozen=True, slots=True)
class Said:
    """Report on the last action."""

    text: str
    kind: Kind = "note"


def seconds(value: float) -> str:
    """Return a duration in short form: 0.4 s, 12 s, 3:05 min."""
    if value < 10:
        return f"{value:.1f} s"
    return f"{value:.0f} s" if value < 60 else f"{int(value // 60)}:{int(value % 60):02d} min"


def bar(done: int, total: int, width: int) -> str:
    """Return a progress bar of `width` cells, in eighths of a cell."""
    eighths = round(8 * width * min(1.0, done / total)) if total > 0 else 0
    full, part = divmod(eighths, 8)
    return ("█" * full + ("" if not part else "▏▎▍▌▋▊▉"[part - 1])).ljust(width, "░")[:width]


def doing_line(state: Doing, width: int, spinner: str) -> Content:
    """Return a running action in `width` cells."""
    head = f" {spinner} {printable_line(state.title)}"
    stop = "  stopping … " if state.stopping else "  esc stops it " if state.stoppable else " "
    behind = f"  +{state.waiting} waiting" if state.waiting else ""
    middle: list[str] = []
    if state.total > 1:  # one step out of one tells nothing
        middle.append(f"{bar(state.done, state.total, 12)} {state.done:,}/{state.total:,}")
    if state.doing:
        middle.append(printable_line(state.doing))
    times = seconds(state.elapsed) + (f", {seconds(state.remaining)} left" if state.remaining is not None else "")
    room = width - len(head) - len(stop) - len(times) - 4
    if room - len(behind) > 20:
        room -= len(behind)
    else:
        behind = ""
    text = Content("  " + "  ".join(middle)).truncate(max(0, room), ellipsis=True)
    line = Content.assemble((head, "bold $accent"), text, (f"  {times}", "$muted"), (behind, "$muted"), (stop, "$warn"))
    return line.truncate(width, ellipsis=True)


class StatusLine(Widget):
    """Shows a Doing while something runs, else the last report. over: the report covers the Doing."""

    DEFAULT_CSS = """
    StatusLine { height: 1; background: $surface; color: $foreground; }
    """

    doing: reactive[Doing | None] = reactive(None)
    said: reactive[Said] = reactive(Said(""))
    over: reactive[bool] = reactive(False)
    frame: reactive[int] = reactive(0)

    def render(self) -> Content:
        if self.doing is not None and not (self.over and self.said.text):
            return doing_line(self.doing, self.size.width, "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"[self.frame % 10])
        style = {"note": "$muted", "good": "$good", "warn": "$warn", "bad": "$bad"}[self.said.kind]
        return Content.assemble((f" {printable_line(self.said.text)}", style)).truncate(self.size.width, ellipsis=True)
