"""Recorder: requests to the memory of another program as they arrive; what a search returned and what it missed; the
records, those of no use, and the value of the scores.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.text import Text

from amgs.text.words import plural
from amgs_app.render.canvas import Canvas
from amgs_app.terminal.line import quote
from amgs_app.views.recorder import commands
from amgs_tui.keys import show
from amgs_tui.panes.lists import FollowingPane, ListPane, next_of

if TYPE_CHECKING:
    from amgs.wings.recorder.foreign_memory import MemoryOperation
    from amgs_app.calls.call import Call
    from amgs_app.views.recorder.results import MemoryTraffic
    from amgs_tui.host import Host
    from amgs_tui.messages import Follow

_DAYS: Final = (0, 7, 30, 90)
_MOST: Final = 2_000
"""Most lines of a view; drawing them takes about 30 ms."""
_REST: Final = 2
"""Pause after a refresh as a multiple of its duration, so that a large recording leaves time for everything else."""


class RecorderPane(FollowingPane):
    """The views of a recording; other results get a page. store: the store on view, "" for all."""

    VIEW_OF: ClassVar[Mapping[str, str]] = {
        "MemoryTraffic": "traffic",
        "RecallShown": "recall",
        "MemoryRecords": "records",
        "MemoryAudit": "audit",
        "RecallScores": "scores",
    }
    VIEWS = ("traffic", "records", "audit", "scores")
    NAME = "recorder"
    SHOWS = frozenset({"recorded"})
    PURPOSE = """\
What the memory of another program is asked, as its OpenTelemetry spans tell it: mem0, LangGraph, Letta or your own, the
latest first. record takes the spans, here or in another terminal, and the list grows as they come. enter opens a
search: what it brought, with scores, which of it an answer used, and what else lay there. w tells why an answer lacks
something. v shows the records that are there, an audit (twice there, superseded, contradicted, never recalled) and what
the scores are worth; E writes the ids to delete by. Nothing is asked of a model, and nothing is changed."""

    BINDINGS: ClassVar[list[Any]] = [
        show("enter", "open", "open", "recorder.open", "Open the search: what it brought, and what else lay there"),
        show("v", "view", "view", "recorder.view", "The next view: traffic, records, audit, scores"),
        show("w", "why", "why", "recorder.why", "Why the answer after this search lacks something"),
        show("f", "store", "store", "recorder.store", "Only the store of this line, or all again"),
        show("b", "days", "days", "recorder.days", "Audit what was not recalled for 7, 30 or 90 days, or only never"),
        show("E", "export", "export", "recorder.export", "Type the export: ids to delete by, or all records"),
        show("L", "live", "live", "recorder.live", "To what came last"),
        show("backspace", "back", "back", "recorder.back", "Back to what was asked"),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.view: commands.View
        self.store = ""
        self._asked = self._rests_until = 0.0

    # --- what is looked at ----------------------------------------------------------------------------------

    def asks(self) -> Iterable[Call[Any]]:
        self._asked = time.monotonic()
        yield commands.recorded(view="traffic", store=self.store, limit=_MOST)

    def follow_up(self, call: Call[Any]) -> Follow | None:
        """Request the view on show again: late spans change the number of a search."""
        if call.arguments["view"] != "traffic" or self.view == "traffic":
            return None
        return lambda traffic: (self._asks_view(traffic.operations),)

    def _asks_view(self, operations: Sequence[MemoryOperation] = ()) -> Call[Any]:
        known, number = self.recall if self.view == "recall" else None, None
        if known is not None:
            number = next((operation.number for operation in operations if operation.span == known.span), known.number)
        return commands.recorded(number, view=self.view, store=self.store, days=self.days, limit=_MOST)

    def slot_of(self, call: Call[Any]) -> str:
        return f"recorded {call.arguments['view']}"

    def take(self, result: object) -> None:
        operation = self.row if self.cursor else None
        super().take(result)
        if type(result).__name__ == "MemoryTraffic":
            now = time.monotonic()
            self._rests_until = now + _REST * (now - self._asked)
            if self.view == self.first:
                self._stand_on(operation)

    def _stand_on(self, operation: MemoryOperation | None) -> None:
        """Keep the cursor on an operation when others arrive; None: it stays on the latest."""
        if operation is not None:
            self.place_on(other.span == operation.span for other in self.items)

    def stamp(self) -> object:
        from amgs.wings.recorder.bodies import sizes_in

        return sizes_in(Path(self.traffic.folder)) if self.traffic is not None else None

    def follow(self) -> None:
        if time.monotonic() > self._rests_until:
            super().follow()

    # --- rows -----------------------------------------------------------------------------------------------

    @property
    def traffic(self) -> MemoryTraffic | None:
        """The recorded operations."""
        return self.results.get("traffic")

    @property
    def recall(self) -> MemoryOperation | None:
        """The search that is open, or None."""
        return self.results["recall"].operation if "recall" in self.results else None

    @property
    def days(self) -> int:
        """Days without a recall that the audit asks for."""
        return self.results["audit"].days if "audit" in self.results else 0

    @property
    def empty(self) -> bool:
        return self.traffic is None or not self.traffic.spans

    @property
    def search(self) -> MemoryOperation | None:
        """The search under the cursor or open, unless it failed."""
        operation = self.recall if self.view == "recall" else self.row if self.view == "traffic" else None
        return operation if operation is not None and operation.act == "search" and not operation.failed else None

    # --- the picture ----------------------------------------------------------------------------------------

    def subtitle(self) -> str:
        if self.empty:
            return ""
        of = f" of {self.store}" if self.store else ""
        newer = f" · {plural(self.cursor, 'newer one')}: L" if self.view == "traffic" and self.cursor else ""
        return f"{self.view}{of}{newer} · {'backspace back' if self.view == 'recall' else 'v other views'}"

    def draw(self, canvas: Canvas) -> Text:
        from amgs_app.views.recorder.rows import draw_scores

        if self.view == "scores" and (scores := self.results.get("scores")) is not None:
            return draw_scores(None, scores, canvas)
        return super().draw(canvas)

    # --- what the keys do -----------------------------------------------------------------------------------

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        match action:
            case "open":
                return self.view == "traffic" and self.search is not None
            case "why":
                return self.search is not None
            case "days":
                return self.view == "audit"
            case "export":
                return self.view in ("records", "audit")
            case "back":
                return self.view != "traffic"
            case "store":
                return bool(self.store or getattr(self.row, "store", ""))
            case "view" | "live":
                return not self.empty
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        if self.search is not None:
            self.ask(commands.recorded(self.search.number, store=self.store))

    def action_view(self) -> None:
        self.turn_to(self.next_view)
        self.ask(self._asks_view(), origin="screen")

    def action_back(self) -> None:
        opened = self.recall if self.view == "recall" else None
        self.turn_to("traffic")
        self._stand_on(opened)

    def action_live(self) -> None:
        self.turn_to("traffic")
        self.move_to(0)
        self.look()

    def action_store(self) -> None:
        self.store = "" if self.store else getattr(self.row, "store", "")
        self.cursor = self.cursor_of_first = 0
        self.look()

    def action_days(self) -> None:
        days = next_of(_DAYS, self.days)
        self.ask(commands.recorded(view="audit", store=self.store, days=days, limit=_MOST), origin="screen")

    def action_why(self) -> None:
        self.ask_line("missing", self._explain, hint="What does the answer lack? In the words of its record.")

    def _explain(self, line: str) -> None:
        if self.search is not None:
            self.ask(commands.recorded(self.search.number, view="why", find=line.strip(), store=self.store))

    def action_export(self) -> None:
        days, file = (f" --days {self.days}", "retire.csv") if self.view == "audit" else ("", "records.json")
        of = f" --store-id {quote(self.store)}" if self.store else ""
        self.host.command(f"recorded --view {self.view}{days}{of} --out {file}")
