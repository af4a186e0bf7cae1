"""Who asks a served memory what, as it happens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from amgs_app.printable import printable_line

if TYPE_CHECKING:
    from amgs_app.service_event import ServiceEvent

MOST: Final = 500
"""Lines that are kept."""


class Traffic(ModalScreen[str | None]):
    """Questions and changes, the newest first; what comes meanwhile is put on top, and the cursor stays where it is.

    Ends with the id of the first block that the chosen line is about, or None.
    """

    DEFAULT_CSS = """
    Traffic { align: center middle; }
    Traffic > Vertical {
        width: 96%; max-width: 160; height: 80%;
        background: $surface; border: round $accent; border-title-color: $accent; border-title-style: bold;
        border-subtitle-color: $muted;
    }
    Traffic OptionList, Traffic OptionList:focus {
        border: none; height: 1fr; background: $surface; padding: 0; text-wrap: nowrap; text-overflow: ellipsis;
    }
    """
    BINDINGS: ClassVar[list[Any]] = [
        Binding("escape,q,T", "leave", "back", id="traffic.close", tooltip="Back to the panes")
    ]

    def __init__(self, events: Sequence[ServiceEvent]) -> None:
        super().__init__()
        self._events = list(events)

    def compose(self) -> ComposeResult:
        with Vertical() as frame:
            frame.border_title = "Traffic"
            frame.border_subtitle = "enter selects the first block · esc back"
            yield OptionList(*(_option(each) for each in self._events))

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        listed.highlighted = 0 if self._events else None
        listed.focus()

    def add(self, event: ServiceEvent) -> None:
        """Put a line on top. Who looks at the first line goes on looking at the newest."""
        self._events = [event, *self._events][:MOST]
        listed = self.query_one(OptionList)
        place, offset = listed.highlighted or 0, listed.scroll_offset
        listed.clear_options()
        listed.add_options(_option(each) for each in self._events)
        listed.highlighted = place + 1 if place else 0
        if place:
            listed.scroll_to(y=offset.y + 1, animate=False)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        chosen = self._events[event.option_index]
        self.dismiss(chosen.blocks[0] if chosen.blocks else None)

    def action_leave(self) -> None:
        self.dismiss(None)


def _option(event: ServiceEvent) -> Option:
    got = event.got if event.outcome == "done" else f"✗ {event.got}"
    mark = ("● ", "$accent") if event.kind == "changed" else "  "
    return Option(
        Content.assemble(
            mark,
            (f"{event.at:%H:%M:%S}  ", "$muted"),
            (printable_line(event.caller), "bold"),
            f"  {printable_line(event.line)}  ",
            (
                f"{printable_line(got)} · {event.milliseconds:.0f} ms",
                "$good" if event.outcome == "done" else "$bad",
            ),
        )
    )
