"""The bottom line: the keys available here and now, as many as fit, each clickable."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from textual import events
from textual.content import Content
from textual.widget import Widget

if TYPE_CHECKING:
    from textual.binding import ActiveBinding
    from textual.dom import DOMNode
    from textual.screen import Screen

    from amgs_tui.host import Host


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
    """Return the bindings to show, in order; several keys of one action are one entry."""
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
