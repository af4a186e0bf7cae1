"""A small invented memory for the screen's tests: frozen results without any engine behind them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from typing import Any

import numpy as np

from amgs.calibration.recalibrate import Curve
from amgs.calibration.results import (
    Calibrated,
    CalibrationPlan,
    ConfidenceChange,
    Fit,
    OutcomeGroup,
    OutcomeGroups,
)
from amgs.errors import InputError
from amgs.lifecycle import revise
from amgs.lifecycle.preview import DecayPreview
from amgs.lifecycle.revise import Draft
from amgs.lifecycle.supersede import ReviewItem
from amgs.model import (
    Block,
    BlockChange,
    Candidate,
    CategoryCurve,
    CategoryCurves,
    CategoryOutlook,
    Centrality,
    ConsolidationItem,
    ConsolidationPlan,
    DecayCurve,
    Edge,
    Fate,
    Forecast,
    ForecastCase,
    ForecastRow,
    Frame,
    FrameDefinition,
    GraphStats,
    Health,
    HealthLine,
    IngestReport,
    LayerReport,
    LedgerEntry,
    LiveEdge,
    Neighbourhood,
    Operation,
    OperationDetail,
    Outcome,
    Progress,
    Reliability,
    ReliabilityBin,
    Review,
    ScoreParts,
    Span,
    StoreStatus,
    Supposed,
    Weights,
)
from amgs.model.health import Standing
from amgs_focus.records import (
    BranchView,
    Decision,
    EntryExplanation,
    EntryView,
    FocusView,
    Measurement,
    NodeRef,
    SpanSource,
    TokenSpan,
)
from amgs_tui.engine_worker import Execute
from amgs_tui.listings import of_raw, shown
from amgs_tui.messages import Answer, Request
from amgs_tui.sifting import Sift
from amgs_tui.verbs.arguments import read_weights
from amgs_tui.verbs.registry import standard
from amgs_tui.verbs.results import (
    BlockDetail,
    BlockList,
    Bookmark,
    BookmarkList,
    ForecastList,
    FrameList,
    Inbox,
    LastFrame,
    Layout,
    Measured,
    Opened,
    OperationList,
    Overview,
    Recording,
    ReviewList,
    Saved,
    Selected,
    Sifted,
    Steered,
    Stepped,
    ThemeSet,
)

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
TITLES = (
    "Dome motor log",
    "Night of 14 May",
    "Encoder supplier",
    "What Ilse values",
    "Snow on the access road",
    "Mirror cleaning procedure",
    "Budget for the spring",
    "Call with the valley school",
)


def block(number: int, status: str = "raw") -> Block:
    """The invented block of this number; its id is made of the number."""
    title = TITLES[number % len(TITLES)]
    made = NOW - timedelta(days=number)
    return Block(
        id=sha256(str(number).encode()).hexdigest(),
        content=f"# {title}\nThe encoder slipped after the cold night; the dome stood still ({number}).",
        created_at=made,
        last_reinforced_at=made,
        category="observation",
        status=status,  # type: ignore[arg-type]
        meta={"title": title, "source": f"notes/{number:03d}.md"},
    )


def _item(raw: Block, near: list[str]) -> ConsolidationItem:
    """What a plan says of a raw block: an observation, related to others."""
    edges = tuple(Edge(raw.id, other, "related", 0.8, 0.7, NOW, NOW) for other in near)
    made = replace(raw, category="observation", confidence=0.6, status="consolidated")
    vector = np.zeros(4, dtype=np.float32)
    return ConsolidationItem(made, "observation", 0.7, "folder", ("dome",), 0.01, False, 0.6, edges, vector)


class World:
    """Answers requests with invented results, and lets a test hold one of them.

    held: verbs that wait until `release`, reporting progress meanwhile. broken: verbs that fail, with their
    error."""

    def __init__(self, raw: int = 8, consolidated: int = 0) -> None:
        self.raw = [block(n) for n in range(raw)]
        self.blocks = [block(100 + n, "consolidated") for n in range(consolidated)]
        self.held: set[str] = set()
        self.broken: dict[str, Exception] = {}
        self.calls: list[Request] = []
        self.threads: set[int] = set()
        self.step = 0
        self.closed = False
        self.layout = Layout()
        self.draft: Draft | None = None
        self.last_frame: Frame | None = None
        self.undone: list[int | None] = []
        self.pinned: list[str] = []
        self.judged: list[int] = []
        self.said: list[tuple[str, str, bool]] = []
        self.branched = 0
        self.furthest = 0
        self._gate = threading.Event()

    # --- what the engine's thread sees --------------------------------------------------------------------

    def close(self) -> None:
        self.closed = True

    def release(self) -> None:
        """Let the held verbs end."""
        self._gate.set()

    @property
    def execute(self) -> Execute:
        def run(_session: Any, request: Request, progress: Progress) -> Answer:
            self.calls.append(request)
            self.threads.add(threading.get_ident())
            if request.line:
                call = standard().parse(request.line)
            else:
                call = standard().call(request.verb, **request.arguments)
            assert call is not None
            name = call.verb.name
            if name in self.held:
                self._hold(progress)
            if name in self.broken:
                raise self.broken[name]
            maker: Callable[..., Any] = getattr(self, name.replace(" ", "_"))
            return Answer(name, maker(**call.arguments), call.line(), call.verb.pane, call.verb.writes)

        return run

    def _hold(self, progress: Progress) -> None:
        done = 0
        while not self._gate.wait(0.05):
            done = min(done + 1, 40)
            progress(done, 40, "embedding")
        self._gate.clear()

    def verbs(self) -> list[str]:
        """What was asked so far, by name or line."""
        return [request.line or request.verb for request in self.calls]

    # --- the verbs ----------------------------------------------------------------------------------------

    def status(self) -> Overview:
        counts = {"raw": len(self.raw), "consolidated": len(self.blocks), "archived": 0, "pruned": 0}
        store = StoreStatus("observatory.duckdb", 1, 3, counts, {}, 12, 4, 0.61, NOW, 0.113, 14, NOW)
        return Overview(store, "notes", "SmolLM2-135M", False, 7)

    def ingest(self, **given: Any) -> IngestReport:
        if given.get("batch") is not None and not given["batch"].is_dir():
            raise InputError(f"{given['batch']} is not a folder.", way_out="Name a folder of markdown files.")
        new = [block(200 + n) for n in range(5)]
        self.raw += new
        return IngestReport(tuple(each.id for each in new), ())

    def inbox_list(
        self, limit: int = 200, offset: int = 0, only: list[str] | None = None, by: str = "", **_: Any
    ) -> Inbox:
        places = shown("inbox", of_raw(self.raw, NOW), Sift(tuple(only or ()), by))
        found = tuple(self.raw[place] for place in places[offset : offset + limit])
        oldest = self.raw[-1].created_at if self.raw else None
        return Inbox(found, len(places), NOW, offset, oldest, len(self.raw))

    def consolidate(self, **_: Any) -> Operation:
        self.blocks += [replace(each, status="consolidated") for each in self.raw]
        self.raw = []
        return Operation(1, "consolidate", NOW, "consolidated the inbox", len(self.blocks), 12)

    def consolidate_plan(self, **_: Any) -> Draft:
        if self.draft is None:
            ids = [each.id for each in self.raw]
            items = tuple(_item(each, [i for i in ids if i != each.id][:2]) for each in self.raw)
            self.draft = Draft(ConsolidationPlan(items, NOW, 7))
        return self.draft

    def consolidate_edit(self, block: str, reset: bool, take: str | None, **given: Any) -> Draft:
        assert self.draft is not None
        draft = revise.reset(self.draft, block) if reset else self.draft
        sure = {one.partition("=")[0]: float(one.partition("=")[2]) for one in given["sure"] or ()}
        self.draft = revise.edited(
            draft,
            block,
            category=given["category"],
            confidence=given["confidence"],
            left_out=None if take is None else take == "no",
            drop=given["drop"] or (),
            keep=given["keep"] or (),
            sure=sure,
        )
        return self.draft

    def consolidate_apply(self) -> Operation:
        assert self.draft is not None
        done = {item.block.id for item in self.draft.plan.items}
        self.blocks += [replace(each, status="consolidated") for each in self.raw if each.id in done]
        self.raw, self.draft = [each for each in self.raw if each.id not in done], None
        return Operation(1, "consolidate", NOW, "consolidated the draft", len(done), 12)

    def operations(self, **_: Any) -> OperationList:
        made = Operation(1, "consolidate", NOW, "consolidated 8 blocks", 8, 12)
        set_ = (Operation(2 + n, "edit", NOW, f"{b[:8]}: pinned", 1, 0) for n, b in enumerate(self.pinned))
        return OperationList((*reversed(tuple(set_)), made) if self.blocks else ())

    def operation(self, operation: int, **_: Any) -> OperationDetail:
        done = Operation(operation, "consolidate", NOW, "consolidated 8 blocks", len(self.blocks), 12)
        blocks = tuple(BlockChange(each.id, each.title, "status raw → consolidated") for each in self.blocks)
        return OperationDetail(done, blocks, 12, 0, 0, ())

    def undo(self, operation: int | None = None) -> Operation:
        self.undone.append(operation)
        if operation == 9:
            return Operation(9, "calibrate", NOW, "recalibrated", 3, 0, undone=True)
        self.raw, self.blocks = [replace(each, status="raw") for each in self.blocks], []
        return Operation(1, "consolidate", NOW, "consolidated 8 blocks", 8, 12, undone=True)

    def block_find(self, text: str, **_: Any) -> BlockList:
        everything = [*self.raw, *self.blocks]
        return BlockList(text, tuple(each for each in everything if text.lower() in each.title.lower()))

    def block_show(self, block: str) -> BlockDetail:
        return BlockDetail(self.select(block).block, 0.6, "standard", 2, 1)

    def select(self, block: str) -> Selected:
        return Selected(next(each for each in (*self.raw, *self.blocks) if each.id == block))

    def theme(self, name: str) -> ThemeSet:
        return ThemeSet(name, (name,))

    def layout_use(self, **_: Any) -> Layout:
        return self.layout

    def layout_set(self, pane: Any, beside: str, large: bool) -> Layout:
        given = tuple(beside.split(",")) if beside else ()
        self.layout = replace(self.layout, pane=pane, beside=given, large=large)
        return self.layout

    def filter(self, pane: Any, terms: list[str] | None) -> Sifted:
        return self._sifted(pane, terms=tuple(terms or ()))

    def sort(self, pane: Any, field: str, reverse: bool) -> Sifted:
        return self._sifted(pane, order=field, reverse=reverse)

    def _sifted(self, pane: Any, **changes: Any) -> Sifted:
        sift = replace(self.layout.sifts.get(pane, Sift()), **changes)
        self.layout = replace(self.layout, sifts={**self.layout.sifts, pane: sift})
        return Sifted(pane, sift)

    def record(self) -> Recording:
        return Recording(len(self.calls))

    def save(self, file: Any) -> Saved:
        return Saved(str(file), 3)

    def bookmark(self, **_: Any) -> Bookmark:
        return Bookmark(self.blocks[0].id, self.blocks[0].title)

    def bookmarks(self) -> BookmarkList:
        return BookmarkList((Bookmark(self.blocks[0].id, self.blocks[0].title, "ask Ilse"),))

    def review_list(self, **_: Any) -> ReviewList:
        older, newer = self.blocks[0], self.blocks[1]
        open_ = Review(7, "supersedes", older.id, newer.id, "the belt is another one", 0.8, NOW)
        return ReviewList((ReviewItem(open_, older, newer),) if not self.judged else ())

    def review_accept(self, review: int) -> Operation:
        self.judged.append(review)
        return Operation(2, "review verdict", NOW, "accepted", 1, 1)

    def graph_communities(self, **_: Any) -> OperationList:
        return OperationList(())

    def frame_list(self) -> FrameList:
        weights = Weights(0.3, 0.1, 0.1, 0.4, 0.1)
        names = ("INBOX", "ATTENTION", "SELF", "SESSION")
        return FrameList(tuple(FrameDefinition(name, f"what {name} is for", weights) for name in names))

    def frame_last(self) -> LastFrame:
        return LastFrame(self.last_frame)

    def health(self) -> Health:
        standing: Standing = "act" if self.raw else "well"
        lines = (
            HealthLine("inbox", standing, f"{len(self.raw)} raw", "consolidate plan"),
            HealthLine("decay", "watch", "5 fall in 7 days", "decay forecast --days 7"),
            HealthLine("calibration", "unknown", "no verdict yet", "feedback useful"),
        )
        return Health(NOW, lines)

    def frame_assemble(self, name: str, query: str, weights: str | None = None, **_: Any) -> Frame:
        given = read_weights(weights) or Weights(0.3, 0.1, 0.1, 0.4, 0.1)
        items = []
        for place, each in enumerate(self.blocks or self.raw):
            parts = ScoreParts(0.9 - 0.1 * (place % 8), 0.3, 0.5, 0.8 - 0.1 * (place % 8), 0.1)
            fate: Fate = "selected" if place < 4 else "over_budget"
            total = parts.weighted(given).total()
            found = ("keyword", "vector")
            items.append(Candidate(each, parts, total, 40, found, fate, child="ATTENTION"))
        text = "\n\n".join(item.block.content for item in items[:4])
        return Frame(
            id="f1",
            name=name,
            query=query,
            as_of=NOW,
            budget=1024,
            tokens=160,
            text=text,
            spans=(Span(0, len(text), items[0].block.id if items else None, 160),),
            candidates=tuple(items),
            ledger=(LedgerEntry("SELF", 256, 40, 1), LedgerEntry("ATTENTION", 640, 120, 3)),
            layers=(LayerReport("prefilter", 8, 8, 8, 0.4), LayerReport("keyword", 8, 4, 4, 0.2)),
            weights=given,
            entropy_bits=1.5,
        )

    def why(self, **_: Any) -> OperationList:
        return OperationList(())

    def frame_compare(self, **_: Any) -> OperationList:
        return OperationList(())

    def frame_open(self, **_: Any) -> Opened:
        self.step = 0
        return Opened("frame SESSION", "why did the dome stall?", 4, self.view())

    def focus_step(self, count: int) -> Stepped:
        self.step += count
        return Stepped((), self.view())

    def focus_back(self, count: int) -> FocusView:
        self.furthest = max(self.furthest, self.step)
        self.step = max(0, self.step - count)
        return self.view()

    def focus_refocus(self) -> Stepped:
        return Stepped((), self.view())

    def focus_pin(self, node: str, release: bool) -> Steered:
        self.said.append(("pin", node, release))
        return Steered(node, "pin", release, self.view())

    def focus_measure(self, entry: int) -> Measured:
        node = NodeRef(1, entry)
        return Measured(Measurement(node, "expand", 0.21, 0.03, 3.0, 3.21, 32, self.step), self.view())

    def focus_branch(self, **_: Any) -> FocusView:
        self.branched += 1
        return self.view()

    def focus_diff(self, **_: Any) -> OperationList:
        return OperationList(())

    def focus_view(self) -> FocusView:
        return self.view()

    def focus_tokens(self, start: int, count: int) -> TokenSpan:
        texts = tuple(f" w{place}" for place in range(start, min(start + count, 1216)))
        return TokenSpan(start, texts, (SpanSource(start, start + len(texts), self.blocks[0].id),))

    def focus_why(self, entry: int) -> EntryExplanation:
        seen = self.view().entries[entry]
        decision = Decision(seen.level, seen.index, "expand", seen.score, "applied", 31, 1, 9)
        return EntryExplanation(
            seen,
            "the encoder slipped twice",
            (),
            seen.score,
            seen.parts,
            decision,
            "both",
            31,
            -31,
            46.0,
            0,
            0.2,
            0.2,
            "it was carried out",
            "would collapse below −0.20",
        )

    def view(self) -> FocusView:
        """A working context of 12 entries over 1,216 tokens that has decoded `step` tokens."""
        entries = []
        spans = [(1, n * 32, n * 32 + 32, 1) for n in range(8)] + [(2, 256, 1216 - 96, 1)]
        spans += [(0, 1216 - 96 + 32 * n, 1216 - 64 + 32 * n, 32) for n in range(3)]
        for place, (level, start, end, cost) in enumerate(spans):
            entries.append(
                EntryView(
                    place,
                    level,
                    place,
                    start,
                    end,
                    cost,
                    0.5 - 0.08 * place,
                    (("similarity", 0.5 - 0.08 * place),),
                    "expand",
                    "applied",
                    1,
                    0,
                    level > 0,
                    True,
                    level == 0,
                    False,
                    False,
                    2,
                    None,
                    None,
                    block(0).id,
                )
            )
        return FocusView(
            model="tiny",
            precision="fp32",
            gist="pointer",
            scorer="tail similarity",
            block_size=32,
            lifetime=1216,
            step=self.step,
            window=512,
            used=109,
            sinks=4,
            levels=2,
            entries=tuple(entries),
            decisions=(),
            history=(),
            swap_rate=0.12,
            mean_residency=7.4,
            cadence=32,
            next_refocus_in=3,
            refocuses=1,
            dirty=61,
            predicted_ms=90.0,
            tau_expand=0.2,
            tau_collapse=0.2,
            question="why did the dome stall?",
            sources=(SpanSource(0, 64, block(0).id), SpanSource(64, 96, block(3).id)),
            text="the motor " * self.step,
            finished=False,
            position=self.step,
            head=max(self.step, self.furthest),
            branch="main",
            branches=tuple(
                BranchView(name, "main" if n else "", 2, 9, not n, "the motor", "00")
                for n, name in enumerate(("main", "b1", "b2")[: 1 + self.branched])
            ),
        )

    def graph_stats(self) -> GraphStats:
        return GraphStats(len(self.blocks), 12 if self.blocks else 0, 0.1, 1, {"related": 12})

    def graph_neighbours(self, block: str, hops: int, **_: Any) -> Neighbourhood:
        everything = [*self.raw, *self.blocks]
        center = next(each for each in everything if each.id == block)
        near = [each for each in everything if each.id != block][: 4 * hops]
        edges = tuple(
            LiveEdge(Edge(block, each.id, "related", 0.9 - 0.1 * n, 0.8, NOW, NOW), 0.7 - 0.1 * n)
            for n, each in enumerate(near)
        )
        distances = {block: 0} | {each.id: 1 for each in near}
        places = {each: Centrality(0.5, 0.4, 0.3, 0.2) for each in distances}
        return Neighbourhood(center, hops, distances, (center, *near), edges, places)

    def decay_curve(self, block: str, days: float) -> DecayCurve:
        chosen = next(each for each in (*self.raw, *self.blocks) if each.id == block)
        hours = tuple(float(h) for h in range(-240, int(days * 24), 24))
        curve = tuple(0.5 ** (abs(h + 240) / 300) for h in hours)
        return DecayCurve(chosen, hours, curve, (-240.0,), NOW + timedelta(days=9), 0.05)

    def decay_categories(self, days: float) -> CategoryCurves:
        hours = (-24.0 * days, 0.0, 24.0 * days)
        curves = tuple(
            CategoryCurve(n, 4, hours, (0.9, 0.6, 0.3)) for n in ("observation", "task") if self.blocks
        )
        return CategoryCurves(NOW, days, 0.05, curves)

    def decay_preview(
        self, block: str, days: float, pin: bool, profile: str | None, **_: Any
    ) -> DecayPreview:
        curve = self.decay_curve(block, days)
        pace = 0.0 if pin else {"core": 0.0001, "durable": 0.001}.get(profile or "", 0.05)
        then = replace(curve, block=replace(curve.block, decay_lambda=pace))
        return DecayPreview(curve, then, pace, 0.4, 0.9)

    def decay_forecast(self, days: float, block: str | None, pin: bool, **_: Any) -> Forecast:
        rows = tuple(
            ForecastRow(each, 0.4, 0.03, NOW + timedelta(days=3 + n))
            for n, each in enumerate(self.blocks[:5])
            if 3 + n <= days and each.id != block
        )
        kinds = (CategoryOutlook("observation", 5, 5, 5 - len(rows), 0.5, 0.2),)
        now_, then = (0, 1, 2, 3, 2, 1, 0, 0, 0, 0), (3, 2, 2, 1, 1, 0, 0, 0, 0, 0)
        supposed = None if block is None else Supposed(0.0 if pin else 0.001, block)
        return Forecast(NOW, days, 0.05, rows, 1, now_, then, len(rows), kinds, supposed, 5)

    def block_pin(self, block: str, **_: Any) -> Selected:
        self.pinned.append(block)
        return self.select(block)

    def calibration_table(self, **_: Any) -> Reliability:
        bins = tuple(
            ReliabilityBin(n / 10, n / 10 + 0.1, n, n / 10 + 0.05, n / 11, n / 20, n / 8) for n in range(10)
        )
        return Reliability(bins, 45, 14, 0.113, 0.02, 0.05, 0.14, 0.003, ((NOW, 0.113),))

    def calibration_forecasts(
        self, bin: int | None, bins: int, by: Any, value: Any, **_: Any
    ) -> ForecastList:
        """Forecast n lies in bin n // 3 and came true when n is odd; the last one is open."""
        cases = []
        for n, each in enumerate(self.blocks):
            predicted, actual = (n // 3 + 0.5) / bins, float(n % 2) if n < 7 else None
            brier = None if actual is None else (predicted - actual) ** 2
            outcome = Outcome(f"p{n}", predicted, actual, brier, NOW, each.id, "SESSION", each.category)
            if bin is None or (n // 3 + 1 == bin and actual is not None):
                cases.append(ForecastCase(outcome, each.title, "why did it stall", (), NOW))
        place = None if bin is None else (bin, bins)
        return ForecastList(tuple(cases), NOW, place, f"{by} {value}" if by else "")

    def calibration_groups(self) -> OutcomeGroups:
        return OutcomeGroups(
            (
                OutcomeGroup("all", "", 8, 7, 0.2, 0.4, 0.25),
                OutcomeGroup("frame", "SELF", 3, 2, 0.2, 0.5, 0.3),
            )
        )

    def calibrate(self, dry_run: bool, **_: Any) -> CalibrationPlan | Calibrated:
        moved = tuple(
            ConfidenceChange(each.id, each.title, each.category, 0.5, 0.4) for each in self.blocks[:3]
        )
        fit = Fit("observation", 20, 0.2, 0.1, True, Curve((0.0, 1.0), (0.2, 0.8)))
        plan = CalibrationPlan("isotonic", 20, fit, (fit,), moved, (), NOW, 3)
        return plan if dry_run else Calibrated(plan, Operation(9, "calibrate", NOW, "recalibrated", 3, 0))

    def feedback(self, verdict: str, block: str) -> Outcome:
        return Outcome(
            "p1", 0.8, 1.0 if verdict == "useful" else 0.0, 0.04, NOW, block, "SESSION", "observation"
        )
