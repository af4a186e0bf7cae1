"""The charted parts of the page of a memory: each a table and its charts, which write the table's own figures."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any

from amgs.text.plural import plural
from amgs.types.retrieval import BlockFilter
from amgs_app.pages import svg_charts
from amgs_app.pages.html_page import HtmlSection
from amgs_app.pages.svg_charts import SERIES, ChartSeries, ReliabilityPoint
from amgs_app.render.catalogue import table_of
from amgs_app.render.sheet import sheet, to_cells

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from amgs.memory import Memory
    from amgs.types import CategoryCurves, Frame, Reliability, Status, StoreStatus
    from amgs_app.render.sheet import ResultTable

_HELD: tuple[Status, ...] = ("raw", "consolidated", "archived")
_SPANS = 12
_KINDS = 14
"""Bars that a chart of categories has at most; the table has them all."""
_GOAL = 0.15
"""The Brier score to stay below."""


def kinds(status: StoreStatus, *, redacted: bool) -> HtmlSection:
    """How many blocks each category has."""
    found = sorted(status.categories.items(), key=lambda one: (-one[1], one[0]))
    whole = sum(status.categories.values())
    table = sheet(
        f"{plural(whole, 'consolidated block')} in {plural(len(found), 'category', 'categories')}",
        "category blocks:n share",
        [(name, count, f"{count / whole:.1%}") for name, count in found],
        (f"Charted: the {_KINDS} largest." if len(found) > _KINDS else "",),
    )
    rows = [(cells[0], row[1], cells[1]) for row, cells in _told(table)][:_KINDS]
    chart = svg_charts.bars("Blocks by category", _listed(rows), rows)
    return HtmlSection("Blocks by category", table, () if redacted else (chart,), own=("share",))


def ages(memory: Memory, now: datetime) -> HtmlSection | None:
    """When the blocks that are held were created, and how many there were by then; None where there are none."""
    oldest = memory.earliest(BlockFilter(statuses=_HELD))
    if oldest is None:
        return None
    spans = _SPANS if oldest < now else 1
    edges = [oldest + (now - oldest) * n / spans for n in range(spans)]
    counts = [
        memory.count(BlockFilter(statuses=_HELD, since=since, until=until))
        for since, until in zip(edges, [*edges[1:], None], strict=True)
    ]
    kind = "day" if (now - oldest).days >= spans else "at"
    table = sheet(
        f"{plural(sum(counts), 'block')} since {oldest:%Y-%m-%d}",
        f"from:{kind} new:n in_all:n",
        zip(edges, counts, accumulate(counts), strict=True),
        ("By the date of what they say, where that is known; what was deleted is not counted.",),
    )
    told = _told(table)
    columns = [(cells[0], row[1], cells[1]) for row, cells in told]
    points = [(0.0, 0.0), *((n + 1.0, float(row[2])) for n, (row, _) in enumerate(told))]
    grown = ChartSeries("in all", points, told[-1][1][2])
    charts = (
        svg_charts.columns("New blocks by date", _listed(columns), columns),
        svg_charts.lines(
            "Blocks in all",
            f"From 0 before {told[0][1][0]} to {grown.told} now.",
            [grown],
            across=[(0.0, told[0][1][0]), (float(spans), f"{now:%Y-%m-%d}")],
            up=[(0.0, "0"), (float(sum(counts)), grown.told)],
        ),
    )
    return HtmlSection("Age and growth", table, charts)


def calibration(result: Reliability) -> HtmlSection:
    """Whether the scores mean what they say."""
    table = table_of(result)
    judged = [one for one in result.bins if one.count]
    if result.brier is None or not judged:
        return HtmlSection("Calibration", table, own=("forecast", "95 %"))
    base = sum(one.rate * one.count for one in judged) / sum(one.count for one in judged)
    points = [
        ReliabilityPoint(one.mean_predicted, one.rate, one.rate_low, one.rate_high, one.count)
        for one in judged
    ]
    told = [f"{cells[1]} forecast at {cells[2]}, {cells[3]} came true" for _, cells in _told(table)]
    chart = svg_charts.reliability(
        "Forecasts against what came true",
        f"{'; '.join(told)}. {base:.3f} of all came true.",
        points,
        (base, f"base rate {base:.3f}"),
    )
    return HtmlSection("Calibration", table, (chart,), own=("forecast", "95 %"))


def brier(result: Reliability) -> HtmlSection | None:
    """How the Brier score went with the verdicts; None before there are two points."""
    if len(result.course) < 2:
        return None
    table = sheet(
        "", "at:at verdicts:n Brier:score", [(one.at, one.outcomes, one.brier) for one in result.course]
    )
    told = _told(table)
    line = ChartSeries("Brier", [(float(n), row[2]) for n, (row, _) in enumerate(told)], told[-1][1][2])
    top = max(0.3, *(one.brier for one in result.course))
    chart = svg_charts.lines(
        "Brier score through time",
        f"From {told[0][1][2]} to {line.told}; below {_GOAL:g} is the goal.",
        [line],
        across=[(0.0, told[0][1][0]), (len(told) - 1.0, told[-1][1][0])],
        up=[(0.0, "0"), (top, f"{top:.2f}")],
        limit=(_GOAL, f"goal: below {_GOAL:g}"),
    )
    return HtmlSection("Brier score", table, (chart,))


def decay(result: CategoryCurves, *, redacted: bool) -> HtmlSection:
    """How the mean relevance of each category fell, and will fall if nothing is used."""
    days, hours = f"{result.days:g}", result.days * 24
    rows = [
        (
            one.category,
            one.blocks,
            one.relevance[0] if one.hours[0] <= -hours else None,  # None: it had no block yet
            min(zip(one.hours, one.relevance, strict=True), key=lambda point: abs(point[0]))[1],
            one.relevance[-1],
        )
        for one in result.curves
    ]
    table = sheet(
        f"Mean relevance of {plural(len(rows), 'category', 'categories')}, {days} days back and ahead",
        f"category blocks:n {days}_days_ago:score now:score in_{days}_days:score",
        rows,
        (f"Charted: the {SERIES} with the highest relevance now." if len(rows) > SERIES else "",),
    )
    if not rows or redacted:
        return HtmlSection("Decay", table)
    ranked = sorted(zip(result.curves, _told(table), strict=True), key=lambda one: -one[1][0][3])[:SERIES]
    series = [
        ChartSeries(one.category, list(zip(one.hours, one.relevance, strict=True)), cells[4])
        for one, (_, cells) in ranked
    ]
    highest = max(max(one.relevance) for one, _ in ranked)
    top = next((step for step in (0.1, 0.2, 0.4, 0.6, 0.8) if step >= highest), 1.0)
    chart = svg_charts.lines(
        "Mean relevance by category",
        f"In {days} days {_listed([(one.name, 0.0, one.told) for one in series])} Threshold {result.threshold:g}.",
        series,
        across=[(-hours, f"{days} days ago"), (0.0, "now"), (hours, f"in {days} days")],
        up=[(0.0, "0"), (top / 2, f"{top / 2:g}"), (top, f"{top:g}")],
        limit=(result.threshold, f"threshold {result.threshold:g}"),
    )
    return HtmlSection("Decay", table, (chart,))


def fill(frame: Frame, *, redacted: bool) -> HtmlSection:
    """Which share of its budget the last frame filled from which source."""
    parts = [(one.child, one.used, one.blocks) for one in frame.ledger]
    parts = parts or [(frame.name, frame.tokens, len(frame.selected))]
    joined = frame.tokens - sum(used for _, used, _ in parts)
    parts += [("headings", joined, 0)] if joined > 0 else []
    free = max(frame.budget - frame.tokens, 0)
    asked = f" for “{frame.query}”" if frame.query else ""
    table = sheet(
        f"{frame.name}{asked}: {frame.tokens:,} of {frame.budget:,} tokens, {plural(len(frame.selected), 'block')}",
        "from tokens:n share_of_budget blocks:n",
        [
            (name, used, f"{used / frame.budget:.1%}", blocks)
            for name, used, blocks in (*parts, ("free", free, None))
        ],
    )
    told = [(cells[0], row[1], f"{cells[1]} tokens, {cells[2]}") for row, cells in _told(table)]
    *filled, (name, _, rest) = told
    chart = svg_charts.filled(
        "What filled the last frame", _listed(told), filled, float(frame.budget), f"{name}: {rest}"
    )
    return HtmlSection(
        "The last frame's budget", table, () if redacted else (chart,), own=("share of budget",)
    )


def _told(table: ResultTable) -> list[tuple[tuple[Any, ...], list[str]]]:
    """Each row with its cells as the table shows them."""
    return list(zip(table.rows, to_cells(table)[1], strict=True))


def _listed(rows: Sequence[tuple[str, float, str]]) -> str:
    return "; ".join(f"{name}: {written}" for name, _, written in rows) + "."
