"""Who asks a served memory what, as it happens."""

from __future__ import annotations

from typing import Any, ClassVar

from textual.binding import Binding
from textual.content import Content

from amgs_app.render.figures.format import short_ids
from amgs_app.results.service_event import ServiceEvent
from amgs_app.terminal.printable import printable_line
from amgs_tui.dialogs.newest_first import NewestFirst


class Traffic(NewestFirst[ServiceEvent]):
    """Questions and changes. Ends with the id of the first block that the chosen line is about, or None."""

    HEADING = "Traffic"
    HINT = "enter selects the first block · esc back"
    BINDINGS: ClassVar[list[Any]] = [
        Binding("T", "leave", "back", id="traffic.close", tooltip="Back to the panes")
    ]

    def line(self, entry: ServiceEvent) -> Content:
        got = entry.got if entry.outcome == "done" else f"✗ {entry.got}"
        return Content.assemble(
            ("● ", "$accent") if entry.kind == "changed" else "  ",
            (f"{entry.at:%H:%M:%S}  ", "$muted"),
            (printable_line(entry.caller), "bold"),
            f"  {short_ids(printable_line(entry.line))}  ",
            (
                f"{printable_line(got)} · {entry.milliseconds:.0f} ms",
                "$good" if entry.outcome == "done" else "$bad",
            ),
        )

    def stands_for(self, entry: ServiceEvent) -> str | None:
        return entry.blocks[0] if entry.blocks else None
