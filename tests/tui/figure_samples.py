"""Realistic results to draw: a small observatory's memory, and a working context in mid-decode."""

from __future__ import annotations

import math
import random
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import numpy as np

from amgs.calibration.results import CalibrationPlan, Curve, EdgeChange, Fit
from amgs.conversation.material import MessageCounter
from amgs.conversation.messages import read_messages
from amgs.conversation.optimise import optimise
from amgs.conversation.why import find_changes
from amgs.identity import block_id
from amgs.lifecycle.plan_editing import PlanDraft, edit_draft
from amgs.types import (
    Block,
    Candidate,
    CategoryOutlook,
    Centrality,
    ConsolidationItem,
    ConsolidationPlan,
    CoursePoint,
    DecayCurve,
    Edge,
    Fate,
    Forecast,
    ForecastCase,
    ForecastRow,
    Frame,
    GraphStats,
    Health,
    HealthLine,
    JournalEntry,
    LayerReport,
    LedgerEntry,
    LiveEdge,
    Neighbourhood,
    Outcome,
    Reliability,
    ReliabilityBin,
    ScoreParts,
    SearchResult,
    Span,
    StoreStatus,
    Weights,
)
from amgs.types.conversation import ContextComparison, ContextStrategy, OptimisedContext
from amgs.types.diagnosis import (
    DiagnosedRequest,
    Diagnosis,
    DiagnosisStep,
    FactMatch,
    FixTrial,
    MovedAnswer,
    ProposedFix,
)
from amgs_app.render.rows import RowList, list_journal
from amgs_focus.records import Action, Band, Decision, Measurement, Reason, SpanSource
from amgs_focus.views import EntryExplanation, EntryView, FocusView
from tests.engine.conversation_world import agent

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
WEIGHTS = Weights(0.25, 0.15, 0.15, 0.35, 0.10)

NOTES: tuple[tuple[str, str, str, str], ...] = (
    (
        "Dome motor log",
        "observation",
        "observations/dome-motor-log.md",
        "The encoder slipped twice before midnight; I reset the index and the dome came back, but the "
        "count was off by forty steps after the cold night of the 14th.",
    ),
    (
        "Night of 14 May",
        "observation",
        "observations/2025-05-14.md",
        "Cold, still and very clear. The dome stalled at azimuth 212 at 23:40 and again at 02:10.",
    ),
    (
        "Motor log (copy)",
        "observation",
        "observations/dome-motor-log-copy.md",
        "The encoder slipped twice before midnight; I reset the index and the dome came back.",
    ),
    (
        "Encoder supplier",
        "people",
        "people/renishaw-contact.md",
        "Ines at the supplier answers the same day; part RGH24-X-05 has six weeks of delivery.",
    ),
    (
        "Closing the dome in wind",
        "procedure",
        "procedures/close-dome-wind.md",
        "Above 14 m/s turn the slit away from the wind first, then close. Never the other way round.",
    ),
    (
        "Why we keep paper logs",
        "value",
        "values/paper-logs.md",
        "A log that survives a power cut is worth more than one that can be searched.",
    ),
    (
        "Marta",
        "people",
        "people/marta.md",
        "Marta has the night shift on Tuesdays and Thursdays and prefers to be asked before noon.",
    ),
    (
        "Spectrograph cooling",
        "project",
        "projects/spectrograph-cooling.md",
        "The second compressor runs at 61 % and the detector holds at 173 K.",
    ),
    (
        "Decision: replace the encoder",
        "decision",
        "decisions/replace-encoder.md",
        "We replace the encoder in June, not the motor. The stall was never the motor.",
    ),
    (
        "Order RGH24-X-05",
        "task",
        "tasks/order-encoder.md",
        "Order two, one as a spare. Ask Ines about the shorter cable.",
    ),
    (
        "Weather station drift",
        "observation",
        "observations/weather-drift.md",
        "The hygrometer reads 6 % high since the storm; subtract it until it is changed.",
    ),
    (
        "Road in winter",
        "place",
        "places/road.md",
        "The upper bend ices from November on; chains from the chapel upwards.",
    ),
    (
        "Guests in August",
        "task",
        "tasks/guests.md",
        "Two students from Pisa for a fortnight, one of them allergic to nuts.",
    ),
    (
        "Grease for the azimuth ring",
        "procedure",
        "procedures/grease.md",
        "Use the lithium grease below −10 °C, thin, and turn the dome twice afterwards.",
    ),
)


def block(place: int, *, status: Any = "consolidated", content: str | None = None) -> Block:
    title, category, source, text = NOTES[place % len(NOTES)]
    turn = place // len(NOTES)
    text = content if content is not None else text + (f" Entry {turn + 1}." if turn else "")
    made = NOW - timedelta(hours=7 + 53 * place)
    return Block(
        id=block_id(f"{title} {turn} {text}"),
        content=text,
        created_at=made,
        last_reinforced_at=made + timedelta(hours=5 * (place % 7)),
        category=category if status != "raw" else "uncategorised",
        confidence=0.5 + 0.04 * (place % 10),
        decay_lambda=(0.01, 0.001, 0.1, 0.0001)[place % 4],
        status=status,
        is_self_component=category == "value",
        meta={"source": source, "title": title if not turn else f"{title} {turn + 1}"},
    )


BLOCKS = tuple(block(place) for place in range(40))
TITLES = {item.id: item.title for item in BLOCKS}


def raw_blocks(number: int = 37) -> tuple[Block, ...]:
    return tuple(block(place, status="raw") for place in range(number))


def plan(number: int = 9) -> ConsolidationPlan:
    items = []
    reasons = ("folder observations/", "tag #people", "verbs of a procedure", "3 of 5 neighbours", "word `decided`")
    relations = ("related", "links_to", "mentions", "next")
    for place, raw in enumerate(raw_blocks(number)):
        edges = tuple(
            Edge(
                raw.id,
                BLOCKS[(place * 3 + other + 1) % 40].id,
                relations[(place + other) % 4],
                0.9 - 0.13 * other,
                0.8 - 0.1 * other,
                NOW,
                NOW,
            )
            for other in range(place % 5)
        )
        items.append(
            ConsolidationItem(
                block=raw,
                category=NOTES[place % len(NOTES)][1],
                category_confidence=0.55 + 0.05 * (place % 9),
                category_because=reasons[place % 5],
                entities=("Marta", "RGH24-X-05", "dome", "14 May")[: place % 5],
                decay_lambda=(0.01, 0.001, 0.1, 0.0001)[place % 4],
                is_self_component=place == 5,
                confidence=0.6,
                edges=edges,
                embedding=np.zeros(4, dtype=np.float32),
            )
        )
    return ConsolidationPlan(tuple(items), NOW, 812)


def draft() -> PlanDraft:
    """The plan with corrections of every kind: category, confidence, block and edge left out, edge surer."""
    made = PlanDraft(plan())
    items = made.proposed.items
    made = edit_draft(made, items[4].block.id, category="decision", confidence=0.35, drop=["1"], sure={"2": 0.95})
    return edit_draft(edit_draft(made, items[1].block.id, left_out=True), items[2].block.id, category="mine")


def candidates(number: int = 14) -> tuple[Candidate, ...]:
    fates: tuple[tuple[Fate, str], ...] = (
        ("selected", ""),
        ("selected", ""),
        ("duplicate", f"duplicate of {BLOCKS[0].id[:8]}"),
        ("selected", ""),
        ("selected", ""),
        ("selected", ""),
        ("over_budget", "needs 61, 12 left"),
        ("selected", ""),
        ("over_budget", "needs 48, 12 left"),
        ("below_threshold", "0.31 < 0.35"),
        ("not_in_top_k", "rank 11 of 10"),
        ("child_dropped", "SELF came first"),
    )
    made = []
    for place in range(number):
        fade = 0.94**place
        parts = ScoreParts(
            recency=min(1.0, 0.95 * fade),
            centrality=0.2 + 0.6 * ((place * 5) % 7) / 7 * fade,
            confidence=0.9 - 0.02 * place,
            similarity=0.97 * fade**1.4,
            reinforcement=0.7 if place % 3 == 0 else 0.1,
        )
        fate, because = fates[place % len(fates)]
        made.append(
            Candidate(
                block=BLOCKS[place],
                parts=parts,
                score=parts.weigh_parts(WEIGHTS).total(),
                tokens=31 + 11 * (place * 7 % 5),
                layers=(("keyword",), ("keyword", "vector"), ("vector",), ("graph",))[place % 4],
                fate=fate,
                because=because,
                child=("SELF", "ATTENTION", "SHORT_TERM")[place % 3],
                lexical=0.8 * fade,
                vector=0.7 * fade,
                graph=0.2,
            )
        )
    return tuple(sorted(made, key=lambda item: -item.score))


LAYER_REPORTS = (
    LayerReport("prefilter", 412, 388, 388, 0.8),
    LayerReport("keyword", 388, 41, 41, 0.3),
    LayerReport("fuzzy", 388, 3, 2, 0.4),
    LayerReport("vector", 388, 60, 44, 1.9),
    LayerReport("graph", 87, 22, 10, 0.7),
    LayerReport("score", 97, 97, 0, 2.0),
)


def frame(number: int = 14) -> Frame:
    hits = candidates(number)
    text = "# SESSION\n\n"
    spans = [Span(0, len(text), None, 4)]
    for hit in hits:
        if hit.fate != "selected":
            continue
        head = f"## {hit.block.title}\n"
        spans.append(Span(len(text), len(text) + len(head), None, 6))
        text += head
        body = hit.block.content + "\n\n"
        spans.append(Span(len(text), len(text) + len(body), hit.block.id, hit.tokens))
        text += body
    return Frame(
        id="f1",
        name="SESSION",
        query="why did the dome stall in May?",
        as_of=NOW,
        budget=1024,
        tokens=886,
        text=text,
        spans=tuple(spans),
        candidates=hits,
        ledger=(
            LedgerEntry("SELF", 256, 203, 5),
            LedgerEntry("ATTENTION", 640, 612, 13),
            LedgerEntry("SHORT_TERM", 128, 71, 2),
        ),
        layers=LAYER_REPORTS,
        weights=WEIGHTS,
        entropy_bits=2.41,
        remarks=("weights of centrality redistributed: the graph has no edges yet",),
        milliseconds=8.1,
    )


def search() -> SearchResult:
    return SearchResult("dome stall May", candidates(24), LAYER_REPORTS, 6.1, WEIGHTS)


def neighbourhood(first: int = 9, second: int = 14) -> Neighbourhood:
    center = BLOCKS[0]
    blocks = [center]
    distances = {center.id: 0}
    edges: list[LiveEdge] = []
    relations = ("links_to", "related", "mentions", "next", "derived_from")

    def edge(a: Block, b: Block, place: int, strength: float) -> None:
        edges.append(
            LiveEdge(
                Edge(
                    a.id,
                    b.id,
                    relations[place % 5],
                    round(0.95 - 0.06 * (place % 9), 2),
                    round(0.9 - 0.05 * (place % 7), 2),
                    NOW,
                    NOW,
                ),
                strength,
            )
        )

    for place in range(first):
        other = BLOCKS[1 + place]
        blocks.append(other)
        distances[other.id] = 1
        edge(center, other, place, max(0.03, 0.85 - 0.1 * place))
    for place in range(second):
        other = BLOCKS[1 + first + place]
        blocks.append(other)
        distances[other.id] = 2
        edge(BLOCKS[1 + (place * 5) % max(first, 1)], other, place + 2, max(0.02, 0.6 - 0.04 * place))
    if first > 3:
        edge(BLOCKS[1], BLOCKS[3], 1, 0.5)
        edge(BLOCKS[2], BLOCKS[4], 3, 0.04)
    return Neighbourhood(
        center=center,
        hops=2 if second else 1,
        distances=distances,
        blocks=tuple(blocks),
        edges=tuple(edges),
        centrality={
            item.id: Centrality(1 / (1 + place), 0.9 / (1 + place), 0.8 / (1 + place), 0.5 / (1 + place))
            for place, item in enumerate(blocks)
        },
    )


STATS = GraphStats(412, 1204, 0.0142, 3, {"related": 610, "links_to": 301, "next": 180, "mentions": 113})


def curve() -> DecayCurve:
    hours = [-720 + 4 * step for step in range(361)]
    marks = (-720.0, -400.0, -130.0, -20.0)
    values = [math.exp(-0.01 * (hour - max(m for m in marks if m <= hour))) for hour in hours]
    return DecayCurve(BLOCKS[0], tuple(map(float, hours)), tuple(values), marks[1:], NOW + timedelta(hours=280), 0.05)


def forecast(number: int = 12) -> Forecast:
    rows = tuple(
        ForecastRow(BLOCKS[place], 0.6 * 0.85**place + 0.06, 0.04 * 0.8**place, NOW + timedelta(days=1 + 2.3 * place))
        for place in range(number)
    )
    return Forecast(
        NOW,
        30.0,
        0.05,
        rows,
        41,
        (22, 11, 9, 14, 20, 33, 41, 60, 80, 122),
        (88, 40, 22, 9, 12, 20, 31, 44, 60, 86),
        number,
        (
            CategoryOutlook("observation", 210, 180, 140, 0.51, 0.32),
            CategoryOutlook("people", 120, 120, 120, 0.83, 0.74),
            CategoryOutlook("task", 82, 71, 66, 0.4, 0.11),
        ),
    )


def category_curves() -> dict[str, tuple[tuple[float, ...], tuple[float, ...]]]:
    hours = tuple(float(hour) for hour in range(-720, 721, 24))
    made = {}
    for name, rate in (("observation", 0.004), ("people", 0.0009), ("task", 0.02)):
        made[name] = (hours, tuple(0.8 * math.exp(-rate * (hour + 720)) for hour in hours))
    return made


def reliability() -> Reliability:
    bins = []
    counts = (0, 2, 5, 9, 14, 22, 31, 40, 26, 11)
    for place, number in enumerate(counts):
        low = place / 10
        rate = min(1.0, max(0.0, 0.1 + 0.8 * (low + 0.05))) if number else 0.0
        reach = 0.9 / math.sqrt(number) if number else 0.0
        bins.append(
            ReliabilityBin(
                low,
                low + 0.1,
                number,
                low + 0.052 if number else low + 0.05,
                rate,
                max(0.0, rate - reach),
                min(1.0, rate + reach),
            )
        )
    history = tuple((NOW - timedelta(days=60 - day), 0.24 - 0.002 * day + 0.02 * math.sin(day)) for day in range(60))
    course = tuple(
        CoursePoint(at, 20, brier, 0.02 - 0.0002 * n, 0.04 + 0.0004 * n, 0.17, -0.0026)
        for n, (at, brier) in enumerate(history)
    )
    return Reliability(tuple(bins), 412, 160, 0.1134, 0.0081, 0.0622, 0.1701, -0.0026, history, course)


EMPTY_RELIABILITY = Reliability((), 12, 0, None, None, None, None, None)


def outcomes(number: int = 12) -> tuple[Outcome, ...]:
    made = []
    for place in range(number):
        predicted = 0.9 - 0.06 * place
        actual = None if place == 2 else float(place % 3 != 1)
        made.append(
            Outcome(
                f"p{place}",
                predicted,
                actual,
                None if actual is None else (predicted - actual) ** 2,
                NOW - timedelta(hours=3 * place),
                BLOCKS[place].id,
                "SESSION",
                NOTES[place % len(NOTES)][1],
            )
        )
    return tuple(made)


def cases(number: int = 12) -> tuple[ForecastCase, ...]:
    return tuple(
        ForecastCase(
            one,
            TITLES[one.block_id],
            "why did the dome stall in May?",
            ("related", "follows") if place % 3 == 0 else (),
            one.at - timedelta(hours=1),
        )
        for place, one in enumerate(outcomes(number))
    )


def recalibration(edges: int = 24, *, used: bool = True) -> CalibrationPlan:
    curve = Curve((0.2, 0.8), (0.3, 0.7))
    walked = tuple(
        EdgeChange(Edge(BLOCKS[n].id, BLOCKS[n + 1].id, "related", 0.6, 0.7, NOW, NOW), 0.52, 1.0, 3)
        for n in range(edges)
    )
    forecast = Fit(0.21, 0.14 if used else 0.23, used, curve)
    return CalibrationPlan("isotonic", 73, forecast, walked, NOW, 812)


def status(raw: int = 37) -> StoreStatus:
    return StoreStatus(
        path="/home/ines/.local/share/amgs/observatory.duckdb",
        schema_version=1,
        change_counter=812,
        blocks={"raw": raw, "consolidated": 412, "archived": 9, "pruned": 3},
        categories={"observation": 120, "procedure": 61, "people": 58, "task": 40, "value": 12},
        edges=1204,
        frames=5,
        mean_relevance=0.61,
        last_consolidation=NOW - timedelta(hours=3),
        brier=0.1134,
        outcomes=160,
        now=NOW,
    )


def health() -> Health:
    lines = (
        HealthLine("inbox", "act", "37 raw: 61 minutes have passed, the interval is 15", "consolidate plan"),
        HealthLine("consolidation", "watch", "3 days ago", "operations"),
        HealthLine("graph", "well", "2,016 edges, 4% faded, 12 blocks alone", "graph stats"),
        HealthLine("decay", "watch", "371 of 412 alive, 12 fall in 7 days", "decay forecast --days 7"),
        HealthLine("review", "well", "no finding waits", "review --scan"),
        HealthLine("calibration", "well", "Brier 0.113 of 160 verdicts, goal 0.15", "calibration"),
        HealthLine("budget", "unknown", "no frame yet", "frame assemble SESSION"),
    )
    return Health(NOW, lines)


def operations(number: int = 6) -> tuple[JournalEntry, ...]:
    kinds = ("consolidate", "reinforce", "consolidate", "undo", "ingest", "prune")
    return tuple(
        JournalEntry(
            91 - place,
            kinds[place % 6],
            NOW - timedelta(hours=2 + 9 * place),
            f"{kinds[place % 6]} {37 - place} blocks, 64 edges",
            37 - place,
            64,
            undone=place == 3,
        )
        for place in range(number)
    )


def journal() -> RowList[JournalEntry]:
    """The same as a list."""
    return list_journal(operations(), NOW)


# --- the working context ----------------------------------------------------------------------------------

K = 32


def _tile(lifetime: int, seed: int, focus: tuple[float, ...], room: int = 508) -> list[tuple[int, int, int, int]]:
    """(level, index, start, end) tiles of the lifetime, finer near the places of focus and the end, within
    room.
    """
    for steep in (20, 60, 120, 250, 500, 1000, 2000, 4000, 8000, 16000):
        tiles = _tile_steep(lifetime, random.Random(seed), focus, steep)
        if sum(1 if level else K for level, *_ in tiles) <= room:
            break
    return tiles


def _tile_steep(
    lifetime: int, rng: random.Random, focus: tuple[float, ...], steep: float
) -> list[tuple[int, int, int, int]]:
    blocks = lifetime // K
    tiles: list[tuple[int, int, int, int]] = []

    def walk(level: int, index: int) -> None:
        size = K * 32 ** max(level - 1, 0) if level else K
        start, end = index * size, min((index + 1) * size, blocks * K)
        if start >= blocks * K:
            return
        near = min([abs((start + end) / 2 / lifetime - place) for place in focus] + [(lifetime - end) / lifetime])
        complete = (index + 1) * size <= blocks * K
        want = near * steep * rng.uniform(0.7, 1.3) - 0.3
        if level == 0 or (complete and level <= want):
            tiles.append((level, index, start, end))
        elif level == 1:
            walk(0, index)
        else:
            for child in range(32):
                walk(level - 1, index * 32 + child)

    top = 1
    while K * 32 ** (top - 1) < lifetime:
        top += 1
    walk(top, 0)
    return tiles


def focus_view(
    lifetime: int = 806_252, *, seed: int = 3, history: int = 24, step: int = 1184, room: int = 508
) -> FocusView:
    rng = random.Random(seed)
    lifetime = lifetime // K * K
    focus = (0.31, 0.52)
    tiles = _tile(lifetime, seed, focus, room)
    refused: tuple[Reason, ...] = ("cooldown", "budget", "n_diff", "illegal_level", "mixed_siblings", "protected_tail")
    entries: list[EntryView] = []
    for place, (level, index, start, end) in enumerate(tiles):
        middle = (start + end) / 2 / lifetime
        near = min(abs(middle - spot) for spot in focus)
        score = max(-1.0, min(1.0, 0.75 * math.exp(-near * 25) - 0.28 + rng.uniform(-0.12, 0.12)))
        action: Action | Literal[""] = ""
        reason: Reason = "below_threshold"
        if score > 0.3:
            action, reason = ("expand", "applied") if place % 3 == 0 else ("expand", refused[place % 6])
        elif score < -0.33:
            action, reason = ("collapse", "applied") if place % 4 == 0 else ("collapse", refused[place % 6])
        entries.append(
            EntryView(
                position=4 + place,
                level=level,
                index=index,
                start=start,
                end=end,
                cost=K if level == 0 else 1,
                score=score,
                parts=(("similarity", score * 0.6), ("recency", score * 0.1), ("lens", score * 0.3)),
                last_action=action,
                reason=reason,
                rank=place % 9,
                cooldown=2 if reason == "cooldown" else 0,
                expandable=level > 0,
                collapsible=level < 4,
                protected=place > len(tiles) - 3,
                pinned=place == 5,
                forbidden=place == 8,
                residency=place % 12,
                delta_nll=0.21 if place % 17 == 3 else None,
                delta_nll_error=0.03 if place % 17 == 3 else None,
                source=BLOCKS[place % 40].id,
            )
        )
    past = []
    for age in range(history, 0, -1):
        shifted = tuple(max(0.02, spot - 0.004 * age) for spot in focus)
        grown = max(K, (lifetime - 32 * age) // K * K)
        past.append(tuple(Band(a, b, lv) for lv, _, a, b in _tile(grown, seed + age // 3, shifted, room)))
    sources: list[SpanSource] = []
    at = 0
    while at < lifetime - 2000:
        long = min(rng.choice((lifetime // 90, lifetime // 40, lifetime // 25)) + 64, lifetime - 2000 - at)
        sources.append(
            SpanSource(at, at + long, BLOCKS[len(sources) % 40].id, "memory", BLOCKS[len(sources) % 40].title)
        )
        at += long
    sources.append(SpanSource(max(at, 0), lifetime - 1200, None, "question", "question"))
    sources.append(SpanSource(lifetime - 1200, lifetime, None, "generated", "answer"))
    used = min(512, sum(entry.cost for entry in entries) + 4)
    return FocusView(
        model="SmolLM2-135M",
        precision="bf16",
        gist="pointer",
        scorer="similarity",
        block_size=K,
        lifetime=lifetime,
        step=step,
        window=512,
        used=used,
        sinks=4,
        levels=max(t[0] for t in tiles),
        entries=tuple(entries),
        decisions=tuple(
            Decision(
                e.level,
                e.index,
                e.last_action,
                e.score,
                e.reason,
                31 if e.last_action == "expand" else -5,
                1,
                9,
                start=e.start,
                end=e.end,
            )
            for e in entries
            if e.last_action and e.reason
        ),
        history=tuple(past),
        swap_rate=0.12,
        mean_residency=7.4,
        cadence=32,
        next_refocus_in=12,
        refocuses=37,
        dirty=61,
        predicted_ms=90.0,
        tau_expand=0.2,
        tau_collapse=0.2,
        question="why did the dome stall in May?",
        text="The dome stalled because the encoder slipped after the cold night of the 14th, so the "
        "controller lost its count and stopped the motor to protect the gears. Marta reset the index twice",
        finished=False,
        position=step,
        head=step,
        measurements=(),
        sources=tuple(sources),
        texts=tuple(NOTES[place % len(NOTES)][3] for place in range(len(entries))),
        found=(entries[17].index,) if entries[17].level == 0 else (),
    )


def explanation(view: FocusView, place: int | None = None) -> EntryExplanation:
    chosen = view.entries[place] if place is not None else max(view.entries, key=lambda entry: entry.score)
    return EntryExplanation(
        entry=chosen,
        text="…the encoder slipped twice before midnight; I reset the index and the dome came back, but the "
        "count was off by forty steps after the cold night of the 14th.",
        sources=tuple(s for s in view.sources if s.start < chosen.end and s.end > chosen.start),
        score=chosen.score,
        parts=chosen.parts,
        decision=Decision(
            chosen.level, chosen.index, "expand", chosen.score, "applied", 31, 1, 9, start=chosen.start, end=chosen.end
        ),
        expand_cost=31,
        collapse_cost=-5,
        expand_ms=46.0,
        cooldown=2,
        tau_expand=0.2,
        tau_collapse=0.2,
        reason_text="Opened: number 1 of 9 by score.",
        would="It collapses again when its score falls below −0.20 after the cooldown of 2 refocuses.",
        measurement=Measurement(chosen.node, "expand", 0.21, 0.03, 2.11, 2.32, 32, 1184, 310.0),
    )


def conversation(strategy: ContextStrategy = "extractive", turns: int = 60) -> OptimisedContext:
    """A long conversation with an agent, cut to a third."""
    messages = read_messages(agent(turns), NOW, []).messages
    counter = MessageCounter()
    worths = [(7 * n % 10) / 10 for n in range(len(messages))]
    budget = sum(map(counter.cost, messages)) // 3
    return optimise("ship 漢字", messages, "How old is the mast?", budget, strategy, counter, lambda: worths)


def comparison() -> ContextComparison:
    """Two strategies for the same conversation."""
    a, b = conversation("mask"), conversation()
    return ContextComparison(a, b, find_changes(a, b))


def diagnosis() -> Diagnosis:
    """A fact that was over budget, with a fix that moves another answer and one that is not proposed."""
    held = block(3)
    request = DiagnosedRequest("assembly", "why did the dome stall?", "the latest", "9f0dbb9c6d7b", "ATTENTION", 300)
    evidence = (
        DiagnosisStep("asked", None, "“why did the dome stall?”, ATTENTION 9f0dbb9c6d7b: the latest"),
        DiagnosisStep("stored", True, f"{held.id[:12]} “{held.title}” holds it in its words"),
        DiagnosisStep("consolidated", True, "it is consolidated, and nothing has superseded it"),
        DiagnosisStep("keyword", True, "it holds “dome”: “The dome stalled in the cold night.”"),
        DiagnosisStep("selection", False, "over budget: 120 tokens, 12 left"),
    )
    called = ProposedFix("also called", "Add a block with the words of the question.", text="…", block=held.id)
    asked = ProposedFix("budget", "Ask with 408 tokens, 108 more than before.", applies=False, budget=408)
    moved = MovedAnswer("who mends the dome?", "SESSION", ("Dome motor log",), ("Why the dome stalled",), True)
    return Diagnosis(
        "It was the wind",
        "the encoder slipped",
        request,
        "over budget",
        "Over budget: 408 tokens would hold it, the budget was 300.",
        evidence,
        held,
        (FactMatch(held, "exact", 1.0, 0.7),),
        None,
        None,
        FixTrial(called, True, 12, (moved,)),
        (FixTrial(asked, True, 0, ()),),
    )
