"""Pages of a memory and of a diagnosis: tables of other commands, some with charts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from amgs_app.pages.charts import SERIES, ChartLine, draw_bars, draw_lines
from amgs_app.pages.html_page import HtmlSection, page
from amgs_app.render.catalogue import portable, table_of
from amgs_app.render.sheet import sheet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs.types import Block, CategoryCurves, Frame, Reliability
    from amgs.types.diagnosis import Diagnosis
    from amgs_app.render.catalogue import Look
    from amgs_app.session.operator import Operator
    from amgs_app.terminal.themes import Palette

SHOWN = "It holds titles and texts of this memory: read it before you attach it to anything."
REDACTED = "Texts of this memory are left out; ids, numbers and dates are not."
_GONE, _KINDS = 20, 14
_GOAL = 0.15
"""Brier score to stay below."""


def of_memory(
    operator: Operator,
    look: Look,
    used: Sequence[tuple[Block, int]],
    palettes: tuple[Palette, Palette],
    *,
    redacted: bool,
) -> str:
    """Return the page of a memory. look: result of `status`. used: its most used blocks, with their numbers of uses.

    Charts with names of categories or frames are left out if texts are.
    """
    status, reliability = portable(look("status")), look("calibration")
    frame, gone = look("frame last").frame, table_of(look("decay forecast"))
    overview = table_of(status)
    overview = replace(overview, rows=tuple(row for row in overview.rows if row[1] != ""))
    kinds = sorted(status.store.categories.items(), key=lambda kind: (-kind[1], kind[0]))
    kind_bars = draw_bars("Blocks by category", [(name, n, f"{n:,}") for name, n in kinds[:_KINDS]])
    health = [(line.side, line.standing, line.told, line.verb) for line in status.health.lines]
    used_rows = [(block.id, block.title, block.category, times) for block, times in used]
    sections = [
        HtmlSection("Overview", overview, own=("what",)),
        HtmlSection("Blocks by category", sheet("", "category blocks:n", kinds), () if redacted else (kind_bars,)),
        HtmlSection("Health", sheet("", "area status detail* command*", health), own=("area", "status", "command")),
        HtmlSection("Calibration", table_of(reliability), draw_calibration(reliability), own=("forecast", "95 %")),
        _list_decay(operator.engine.memory.lifecycle.category_curves(days=30.0), redacted=redacted),
        *([] if frame is None else [_list_fill(frame, redacted=redacted)]),
        HtmlSection("Most used", sheet("", "id:id title* category uses:n", used_rows)),
        HtmlSection("What drops below the threshold", replace(gone, rows=gone.rows[:_GONE])),
    ]
    return page(
        # A file name may come from the memory, and an address may end in a password.
        "A memory" if redacted else operator.engine.store_name.partition("?")[0],
        _write_note(f"{status.store.now:%Y-%m-%d %H:%M}", redacted=redacted),
        sections,
        palettes,
        redacted=redacted,
    )


def of_diagnosis(result: Diagnosis, palettes: tuple[Palette, Palette], *, redacted: bool) -> str:
    """Return the page of a diagnosed answer."""
    asked = sheet("", "what value*", [("cause", result.cause)])
    sections = (
        HtmlSection("Cause", asked, own=("what", "value")),
        HtmlSection("Evidence", table_of(result), own=("_", "step")),
    )
    note = _write_note("", redacted=redacted)
    return page("Why an answer missed a fact", note, sections, palettes, redacted=redacted)


def draw_calibration(result: Reliability) -> tuple[str, ...]:
    """Draw forecasts against outcomes, and the Brier score over time; nothing without verdicts."""
    judged = [step for step in result.bins if step.count]
    if result.brier is None or not judged:
        return ()
    tenths = [(n / 4, f"{n / 4:g}") for n in range(5)]
    true = ChartLine("came true", [(step.mean_predicted, step.rate) for step in judged])
    charts = [
        draw_lines(
            "Forecasts against what came true",
            [true, ChartLine("as forecast", [(0, 0), (1, 1)])],
            across=tenths,
            up=tenths,
        )
    ]
    course = result.course
    if len(course) > 1:
        top = max(0.3, *(point.brier for point in course))
        brier = ChartLine("Brier", [(n, point.brier) for n, point in enumerate(course)], f"{course[-1].brier:.3f}")
        charts.append(
            draw_lines(
                "Brier score through time",
                [brier],
                across=[(0, f"{course[0].at:%Y-%m-%d}"), (len(course) - 1, f"{course[-1].at:%Y-%m-%d}")],
                up=[(0, "0"), (top, f"{top:.2f}")],
                limit=(_GOAL, f"goal: below {_GOAL:g}"),
            )
        )
    return tuple(charts)


def _list_decay(result: CategoryCurves, *, redacted: bool) -> HtmlSection:
    """List how the mean relevance of each category falls without any use."""
    days = f"{result.days:g}"
    rows = [(curve.category, curve.blocks, curve.relevance[-1]) for curve in result.curves]
    table = sheet(f"Mean relevance {days} days ahead", f"category blocks:n in_{days}_days:score", rows)
    if not rows or redacted:
        return HtmlSection("Decay", table)
    highest = sorted(result.curves, key=lambda curve: -max(curve.relevance))[:SERIES]
    top = max(max(curve.relevance) for curve in highest)
    hours = result.days * 24
    chart = draw_lines(
        "Mean relevance by category",
        [
            ChartLine(
                curve.category, list(zip(curve.hours, curve.relevance, strict=True)), f"{curve.relevance[-1]:.3f}"
            )
            for curve in highest
        ],
        across=[(-hours, f"{days} days ago"), (0, "now"), (hours, f"in {days} days")],
        up=[(0, "0"), (top / 2, f"{top / 2:.2f}"), (top, f"{top:.2f}")],
        limit=(result.threshold, f"threshold {result.threshold:g}"),
    )
    return HtmlSection("Decay", table, (chart,))


def _list_fill(frame: Frame, *, redacted: bool) -> HtmlSection:
    """List the tokens of the last frame by source."""
    parts = [(part.child, part.used) for part in frame.ledger] or [(frame.name, frame.tokens)]
    parts += [("free", max(frame.budget - sum(used for _, used in parts), 0))]
    rows = [(name, used, f"{used / frame.budget:.1%}") for name, used in parts]
    chart = draw_bars("What filled the last frame", [(name, n, f"{n:,} tokens") for name, n in parts])
    table = sheet(f"{frame.name}: {frame.tokens:,} of {frame.budget:,} tokens", "from tokens:n share_of_budget", rows)
    return HtmlSection("The last frame's budget", table, () if redacted else (chart,), own=("share of budget",))


def _write_note(at: str, *, redacted: bool) -> str:
    return ". ".join(part for part in (at, REDACTED if redacted else SHOWN) if part)
