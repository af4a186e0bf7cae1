"""Recorder: what the memory of another program is asked, as it comes; what a recall brought and what else lay there;
what there is, what of it is of no use, and what its scores are worth.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final

from rich.text import Text

from amgs.text.plural import plural
from amgs_app.render.figures.canvas import Canvas, Figure
from amgs_app.render.figures.empty_state import notice
from amgs_app.terminal.line import quote
from amgs_app.views.recorder import commands, figures
from amgs_tui.dialogs.questions import Choice
from amgs_tui.keys import show
from amgs_tui.panes.lists import ListPane

if TYPE_CHECKING:
    from amgs.wings.recorder.foreign_memory import MemoryOperation
    from amgs_app.calls.call import Call
    from amgs_app.panes.row_filter import ListFilter, Row
    from amgs_app.views.recorder.results import MemoryTraffic, RecallScores, RecallShown
    from amgs_tui.host import Host

VIEWS: Final[tuple[commands.View, ...]] = ("traffic", "records", "audit", "scores")
"""Those that the key goes through; a recall is opened from the traffic."""
_MOST: Final = 5_000
"""Lines of a view."""
_EVERY: Final = 1.0
"""Seconds between two looks at whether anything came."""
_REST: Final = 4
"""So many times as long as a look took, nothing is read again: a large recording leaves time for everything else."""


class RecorderPane(ListPane):
    """One view of what was recorded.

    traffic: what was asked last; pages: what each view shows; scores: the one that is no list. recall: the one that is
    open. store: the one that is looked at, "" for all; stores: all that there are. days: of the audit.
    """

    NAME = "recorder"
    SHOWS = frozenset({"recorded"})
    PURPOSE = """\
What the memory of another program is asked, as its OpenTelemetry spans tell it: mem0, LangGraph, Letta or your own, the
latest first. record takes the spans, here or in another terminal, and the list grows as they come. enter opens a
search: what it brought, with scores, which of it an answer used, and what else lay there. w tells why an answer lacks
something. v shows the records that are there, an audit (twice there, superseded, contradicted, never recalled) and what
the scores are worth; E writes the ids to delete by. Nothing is asked of a model, and nothing is changed."""

    BINDINGS: ClassVar[list[Any]] = [
        show(
            "enter",
            "open",
            "open",
            "recorder.open",
            "Open the search: what it brought, and what else lay there",
        ),
        show("v", "view", "view", "recorder.view", "The next view: traffic, records, audit, scores"),
        show("w", "why", "why", "recorder.why", "Why the answer after this search lacks something"),
        show("f", "store", "store", "recorder.store", "Look at one store of the program, or at all"),
        show(
            "b",
            "days",
            "days",
            "recorder.days",
            "Of the audit: after how many days a record is not recalled lately",
        ),
        show("E", "export", "export", "recorder.export", "Type the export: ids to delete by, or all records"),
        show("L", "live", "live", "recorder.live", "To what came last"),
        show("backspace", "back", "back", "recorder.back", "Back to what was asked"),
        *ListPane.BINDINGS,
    ]

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.traffic: MemoryTraffic | None = None
        self.recall: RecallShown | None = None
        self.scores: RecallScores | None = None
        self.pages: dict[commands.View, figures.RecorderPage] = {}
        self.view: commands.View = "traffic"
        self.store = ""
        self.stores: Sequence[tuple[str, int]] = ()
        self.days = 0
        self._typing = ""
        self._outer = 0
        self._sifted: tuple[figures.RecorderPage | None, ListFilter, Sequence[figures.RecorderRow]]
        self._sifted = None, self.sift, ()
        self._sizes: Mapping[Path, int] = {}
        self._asked = self._rests_until = 0.0

    def on_mount(self) -> None:
        self.set_interval(_EVERY, self._follow)

    # --- what is looked at ----------------------------------------------------------------------------------

    def asks(self) -> Iterable[Call[Any]]:
        self._asked = time.monotonic()
        yield commands.recorded(store=self.store, limit=_MOST)
        yield from self._asks_view()

    def _asks_view(self) -> Iterable[Call[Any]]:
        """What the view shows beside the traffic."""
        if self.view == "recall" and self.recall is not None:
            yield commands.recorded(self.recall.operation.number, store=self.store)
        elif self.view == "audit":
            yield commands.recorded(view="audit", store=self.store, days=self.days, limit=_MOST)
        elif self.view in ("records", "scores"):
            yield commands.recorded(view=self.view, store=self.store, limit=_MOST)

    def slot_of(self, call: Call[Any]) -> str:
        given = call.arguments
        return f"recorded {given['view'] or ('traffic' if given['number'] is None else 'recall')}"

    def take(self, result: object) -> None:
        from amgs_app.views.recorder.results import (
            MemoryAudit,
            MemoryRecords,
            MemoryTraffic,
            RecallScores,
            RecallShown,
        )

        match result:
            case MemoryTraffic():
                self._take_traffic(result)
            case RecallShown():
                self.recall = result
                self.pages["recall"] = figures.recall_page(result)
            case MemoryRecords():
                self.pages["records"] = figures.records_page(result)
            case MemoryAudit():
                self.days = result.days
                self.pages["audit"] = figures.audit_page(result)
            case RecallScores():
                self.scores = result
        self.clip_cursor()

    def _take_traffic(self, result: MemoryTraffic) -> None:
        """What was asked grew: the cursor stays on its row, or on the latest where it stood there."""
        row = self.row if self.view == "traffic" else None
        held = row.operation.span if row is not None and row.operation is not None and self.cursor else ""
        self._sizes, took = _sizes_in(result.folder), time.monotonic() - self._asked
        self._rests_until = time.monotonic() + _REST * took
        self.traffic = result
        self.stores = result.stores if not self.store else self.stores
        self.pages["traffic"] = figures.traffic_page(result)
        if held:
            self.place_on(one.operation is not None and one.operation.span == held for one in self.lines)

    def show_to_operator(self, command: str, result: object) -> None:
        """What was asked for comes to the front; what is no view has a page of its own."""
        del command
        from amgs_app.views.recorder import results

        if isinstance(result, results.MissedFact):
            self.host.show_page("Why it was missed", result)
        elif isinstance(result, results.RecordedConversations):
            self.host.show_page("Conversations", result)
        elif isinstance(result, results.RecallShown):
            self._turn_to("recall")
        elif isinstance(result, results.MemoryRecords):
            self._turn_to("records")
        elif isinstance(result, results.MemoryAudit):
            self._turn_to("audit")
        elif isinstance(result, results.RecallScores):
            self._turn_to("scores")
        else:
            self._turn_to("traffic")

    def _turn_to(self, view: commands.View) -> None:
        if view != self.view:
            if self.view == "traffic":
                self._outer = self.cursor
            self.view, self.cursor = view, self._outer if view == "traffic" else 0
        self.clip_cursor()
        self.show_change()

    def _follow(self) -> None:
        """Look again where spans came since."""
        if self.traffic is None or not self.has_place or self.busy is not None:
            return
        if time.monotonic() > self._rests_until and _sizes_in(self.traffic.folder) != self._sizes:
            self.look()

    # --- rows -----------------------------------------------------------------------------------------------

    @property
    def empty(self) -> bool:
        return self.traffic is None or not self.traffic.spans

    @property
    def page(self) -> figures.RecorderPage | None:
        """The list that is shown; None for a diagram, and for what is still read."""
        return self.pages.get(self.view)

    @property
    def lines(self) -> Sequence[figures.RecorderRow]:
        """The rows that the filter leaves."""
        if self._sifted[:2] != (self.page, self.sift):
            rows = self.sift_rows(self.page.rows) if self.page is not None else ()
            self._sifted = self.page, self.sift, rows
        return self._sifted[2]

    def all_rows(self) -> Sequence[Row]:
        return [one.fields for one in self.page.rows] if self.page is not None else ()

    @property
    def rows(self) -> int:
        return len(self.lines)

    @property
    def row(self) -> figures.RecorderRow | None:
        """The row under the cursor."""
        return self.at_cursor(self.lines)

    @property
    def search(self) -> MemoryOperation | None:
        """The search that is looked at."""
        if self.view == "recall" and self.recall is not None:
            return self.recall.operation
        one = self.row.operation if self.row is not None else None
        return one if one is not None and one.act == "search" and not one.failed else None

    # --- the picture ----------------------------------------------------------------------------------------

    def subtitle(self) -> str:
        if self.empty:
            return ""
        of = f" of {self.store}" if self.store else ""
        if self.view == "recall":
            return f"recall{of} · w why something lacks · backspace back"
        behind = f" · {plural(self.cursor, 'newer one')}: L" if self.view == "traffic" and self.cursor else ""
        return f"{self.view}{of}{behind} · v other views"

    def rows_on_screen(self) -> Mapping[int, int] | None:
        figure = self._figure(self.canvas())
        return figure.rows if figure is not None else {}

    def draw(self, canvas: Canvas) -> Text:
        from amgs_app.views.recorder.entries import HOW

        if self.traffic is not None and self.empty:
            ways = (":record  listen here; amgs record does so in another terminal",)
            return notice(canvas, "Nothing is recorded yet", ways, HOW)
        figure = self._figure(canvas)
        return notice(canvas, "Recorder", (), self.waits) if figure is None else figure.render()

    def _figure(self, canvas: Canvas) -> Figure | None:
        """The picture of the view; None while nothing is read."""
        if self.empty:
            return None
        if self.view == "scores":
            return None if self.scores is None else figures.draw_scores(canvas, self.scores)
        if self.page is None:
            return None
        return figures.draw_page(canvas, self.page, self.lines, self.cursor)

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
                return len(self.stores) > 1
            case "view" | "live":
                return not self.empty
            case "filter_rows" | "sort_rows":
                return self.page is not None
        return super().check_action(action, parameters)

    def action_open(self) -> None:
        if self.search is not None:
            self.ask(commands.recorded(self.search.number, store=self.store))

    def action_view(self) -> None:
        at = VIEWS.index(self.view) if self.view in VIEWS else -1
        self._turn_to(VIEWS[(at + 1) % len(VIEWS)])
        self._look_at_view()

    def _look_at_view(self) -> None:
        for call in self._asks_view():
            self.ask(call, origin="screen")

    def action_back(self) -> None:
        self._turn_to("traffic")

    def action_live(self) -> None:
        self._turn_to("traffic")
        self.move_to(0)
        self.look()

    def action_store(self) -> None:
        names = ["", *(name for name, _ in self.stores if name)]
        counts = dict(self.stores)
        choices = [
            Choice(
                str(n),
                name or "all stores",
                plural(counts[name] if name else sum(counts.values()), "operation"),
                marked=name == self.store,
            )
            for n, name in enumerate(names)
        ]
        self.choose("Which store?", choices, lambda n: self._look_at_store(names[int(n)]))

    def _look_at_store(self, name: str) -> None:
        self.store, self.cursor, self._outer = name, 0, 0
        if self.view == "recall":
            self._turn_to("traffic")
        self.look()

    def action_why(self) -> None:
        self._typing = "fact"
        self.host.ask_line(
            self.NAME, "missing", hint="What does the answer lack? In the words of its record."
        )

    def action_days(self) -> None:
        self._typing = "days"
        hint = "Days without a recall; 0 asks only what was never recalled."
        self.host.ask_line(self.NAME, "days", str(self.days), hint=hint, replace=True)

    def take_answer(self, line: str) -> None:
        search = self.search
        if self._typing == "fact" and search is not None:
            self.ask(commands.recorded(search.number, view="why", find=line.strip(), store=self.store))
        elif self._typing == "days" and line.strip().isdecimal():
            self.days = int(line)
            self._look_at_view()
        elif self._typing == "days":
            self.notify("Give a number of days, such as 30.", title="No days", severity="warning")

    def action_export(self) -> None:
        of = f" --store-id {quote(self.store)}" if self.store else ""
        if self.view == "audit":
            self.host.command(f"recorded --view audit --days {self.days}{of} --out retire.csv")
        else:
            self.host.command(f"recorded --view records{of} --out records.json")


def _sizes_in(folder: str) -> Mapping[Path, int]:
    from amgs.wings.recorder.span_files import sizes_in

    return sizes_in(Path(folder))
