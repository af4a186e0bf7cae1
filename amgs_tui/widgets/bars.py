"""The lines around the panes: pane names, status, keys."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from amgs_app.panes.layout import PANE_KEYS, PANES
from amgs_app.terminal.output import printable_line
from amgs_tui.wing_panes import wing_panes

if TYPE_CHECKING:
    from textual.binding import ActiveBinding
    from textual.dom import DOMNode
    from textual.screen import Screen

    from amgs_tui.host import Host


TITLES: dict[str, tuple[str, str]] = {
    "inbox": ("Inbox", "Inbox"),
    "frame": ("Frame", "Frame"),
    "graph": ("Graph", "Graph"),
    "decay": ("Decay", "Decay"),
    "calibration": ("Calibration", "Calib"),
    "focus": ("Working context", "Ctx"),
    "overview": ("Overview", "Over"),
    "conversation": ("Conversation", "Conv"),
    **{name: wing.titles for name, wing in wing_panes().items()},
}
"""Full and short title of each pane."""


def tab_labels(active: str, width: int) -> list[str]:
    """Return the names in the longest form that fits `width` cells: full, short, close together, or only the active
    binding.
    """
    forms = (
        [f" {n} {TITLES[name][0]} " for n, name in zip(PANE_KEYS, PANES, strict=False)],
        [f" {n} {TITLES[name][1]} " for n, name in zip(PANE_KEYS, PANES, strict=False)],
        [f" {n} {TITLES[name][1]}" for n, name in zip(PANE_KEYS, PANES, strict=False)],
        [f" {n} {TITLES[name][1]} " if name == active else f" {n} " for n, name in zip(PANE_KEYS, PANES, strict=False)],
    )
    return next((form for form in forms if sum(map(len, form)) <= width), forms[-1])


class TabLine(Widget):
    """Shows the tabs, and reports clicks on them."""

    DEFAULT_CSS = """
    TabLine { height: 1; background: $surface; color: $muted; }
    """

    @dataclass
    class Chosen(Message):
        """A tab was clicked."""

        pane: str

    active: reactive[str] = reactive(PANES[0])

    def render(self) -> Content:
        labels = tab_labels(self.active, self.size.width)
        styles = ("bold $background on $accent" if name == self.active else "$muted" for name in PANES)
        return Content.assemble(*zip(labels, styles, strict=True))

    def on_click(self, event: events.Click) -> None:
        edge = 0
        for name, label in zip(PANES, tab_labels(self.active, self.size.width), strict=True):
            edge += len(label)
            if event.x < edge:
                self.post_message(self.Chosen(name))
                return


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


ALWAYS: Final = ("app.help", "app.command", "app.quit")
"""Ids of the bindings that stay at the right, however many keys a pane has."""

WITH_ROOM: Final = (
    *(f"focus.{name}" for name in ("measure", "pin", "forbid", "force", "set", "branch", "branches", "diff")),
    *("frame.compare", "frame.unweigh", "inbox.as_proposed", "calibration.undo"),
    *("app.palette", "app.next_pane", "app.maximise", "app.peek", "app.copy_pane"),
    *("list.filter", "list.sort", "app.theme", "app.record", "app.reload"),
)
"""Ids of the bindings that are added, in this order, if there is room."""

SIGNS: Final = {
    "question_mark": "?",
    "colon": ":",
    "slash": "/",
    "full_stop": ".",
    "comma": ",",
    "greater_than_sign": ">",
    "left_square_bracket": "[",
    "right_square_bracket": "]",
    "left_curly_bracket": "{",
    "right_curly_bracket": "}",
    "asterisk": "*",
    "apostrophe": "'",
    "plus": "+",
    "minus": "-",
    "equals_sign": "=",
    "escape": "esc",
    "enter": "⏎",
    "space": "space",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "shift+tab": "⇧tab",
    "pageup": "pgup",
    "pagedown": "pgdn",
}
"""How keys are shown if not by their name."""


@dataclass(frozen=True, slots=True)
class KeyHint:
    """An entry of the bar. spare: shown only if there is room."""

    id: str
    keys: str
    label: str
    action: str
    tooltip: str = ""
    node: DOMNode | None = None
    spare: bool = False

    @property
    def width(self) -> int:
        return len(self.keys) + len(self.label) + 3


def sign(key: str) -> str:
    """Return a key as shown to the operator."""
    return SIGNS.get(key, key.replace("ctrl+", "^"))


def name_key(key: str) -> str:
    """Return a key's name as shown where there is room, in ASCII."""
    return "enter" if key == "enter" else sign(key)


def hints(bindings: dict[str, ActiveBinding]) -> list[KeyHint]:
    """Return the bindings to show, in order; several keys of an action form a single entry."""
    by_group: dict[str, KeyHint] = {}
    for active in bindings.values():
        binding = active.binding
        name = binding.id or binding.action
        if not active.enabled or not (binding.show or name in WITH_ROOM):
            continue
        shown = binding.key_display or sign(binding.key)
        group = f"{id(active.node)}:{binding.description}"
        earlier = by_group.get(group)
        if earlier is None:
            tooltip = binding.tooltip or binding.description
            spare = not binding.show
            by_group[group] = KeyHint(name, shown, binding.description, binding.action, tooltip, active.node, spare)
        elif shown not in earlier.keys:
            by_group[group] = replace(earlier, keys=f"{earlier.keys} {shown}" if len(shown) == 1 else earlier.keys)
    return list(by_group.values())


def fit(entries: list[KeyHint], width: int) -> tuple[list[KeyHint], list[KeyHint]]:
    """Return the entries at the left and right that fit `width` cells, the pane's keys first, each in full."""
    right = [entry for name in ALWAYS for entry in entries if entry.id == name]
    while right and sum(entry.width for entry in right) > width:
        right.pop()
    room = width - sum(entry.width for entry in right)
    left: list[KeyHint] = []
    rest = [entry for entry in entries if entry.id not in ALWAYS]
    rest.sort(key=lambda entry: WITH_ROOM.index(entry.id) if entry.spare and entry.id in WITH_ROOM else -1)
    for entry in rest:
        if entry.width <= room:
            left.append(entry)
            room -= entry.width
    return left, right


class KeyBar(Widget):
    """Shows the active screen's bindings."""

    DEFAULT_CSS = """
    KeyBar { height: 1; background: $panel; color: $foreground; }
    """

    def __init__(self, host: Host) -> None:
        super().__init__()
        self._host = host
        self._hints: list[KeyHint] = []
        self._places: list[tuple[int, int, KeyHint]] = []

    def on_mount(self) -> None:
        self.screen.bindings_updated_signal.subscribe(self, self._refresh_hints)
        self._refresh_hints(self.screen)

    def _refresh_hints(self, screen: Screen[object]) -> None:
        if self.is_attached and screen is self.screen:
            self._hints = hints(screen.active_bindings)
            self.refresh()

    def render(self) -> Content:
        entries = self._hints
        if self._host.symbols == "ascii":
            entries = [replace(entry, keys=entry.keys.replace("⏎", "enter")) for entry in entries]
        left, right = fit(entries, self.size.width)
        pieces: list[tuple[str, str]] = []
        self._places = []
        at = 0
        gap = self.size.width - sum(entry.width for entry in (*left, *right))
        for entry in (*left, None, *right):
            if entry is None:
                pieces.append((" " * gap, ""))
                at += gap
                continue
            pieces += [(f" {entry.keys}", "bold $accent"), (f" {entry.label} ", "$foreground")]
            self._places.append((at, at + entry.width, entry))
            at += entry.width
        return Content.assemble(*pieces)

    def _hint_at(self, x: int) -> KeyHint | None:
        return next((entry for start, end, entry in self._places if start <= x < end), None)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        hint = self._hint_at(event.x)
        self.tooltip = hint.tooltip if hint else None

    async def on_click(self, event: events.Click) -> None:
        hint = self._hint_at(event.x)
        if hint is not None:
            await self.app.run_action(hint.action, default_namespace=hint.node)
