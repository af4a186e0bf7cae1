"""A list of forecasts: of which block, asked by what, how likely it was called, and what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from amgs.types import ForecastCase
from amgs_app.panes.row_fields import verdict_of
from amgs_app.render.canvas import Piece, Region, clean, ink, width_of
from amgs_app.render.format import age, optional, share, short_id
from amgs_app.render.glyphs import ListPage, verdict_sign

HEADED_FROM = 5
"""Lines from which the columns have heads."""
WORDED_FROM = 90
"""Cells from which what came of a forecast is said in a word, too."""
_HEADS = {"frame": "frame", "asked": "asked", "category": "category", "relations": "led here by"}


def draw_forecasts(
    region: Region,
    cases: Sequence[ForecastCase],
    *,
    now: datetime,
    cursor: int | None,
    title: str,
    empty: str = "No forecast is here.",
) -> None:
    """The forecasts under a rule with a title, so that the one under the cursor is in view."""
    heads = 1 if region.height >= HEADED_FROM and cases else 0
    page = ListPage.around(cases, region.height - 1 - heads, cursor)
    region.rule(0, title, page.note)
    if not cases:
        region.put(1, 1, empty, ink(region.palette.muted), width=region.width - 2)
    columns = _columns(region.width, page.rows)
    if heads:
        _heads(region.part(0, 1, None, 1), columns)
    page.draw(region.part(0, 1 + heads), lambda line, case, chosen: _row(line, case, now, columns, chosen=chosen))


def _heads(line: Region, columns: dict[str, int]) -> None:
    """What each column holds."""
    muted = ink(line.palette.muted)
    line.put(1, 0, "age", muted, width=6, align="right")
    tail = "said → came    Brier" if line.width >= WORDED_FROM else "said   Brier"
    x = line.width - width_of(tail)
    line.put(x, 0, tail, muted)
    for name in reversed(columns):
        x -= columns[name] + 2
        line.put(x, 0, _HEADS[name], muted, width=columns[name])
    line.put(8, 0, "block", muted, width=max(0, x - 9))


def _columns(width: int, cases: Sequence[ForecastCase]) -> dict[str, int]:
    """Cells of the columns that fit beside title and figures, the most telling first."""
    room = width - (44 if width >= 90 else 36)
    found: dict[str, int] = {}
    for name, least, texts in (
        ("frame", 0, [case.outcome.frame for case in cases]),
        ("asked", 24, [f"“{case.asked}”" for case in cases]),
        ("category", 0, [case.outcome.category for case in cases]),
        ("relations", 0, [" ".join(case.relations) for case in cases]),
    ):
        wants = max((width_of(clean(text)) for text in texts), default=0)
        takes = min(wants, max(least, 14) if name != "asked" else max(least, room // 2))
        if wants and takes + 2 <= room:
            found[name] = takes
            room -= takes + 2
    return found


def _row(region: Region, case: ForecastCase, now: datetime, columns: dict[str, int], *, chosen: bool) -> None:
    palette = region.palette
    muted = ink(palette.muted)
    outcome = case.outcome
    sign, style = verdict_sign(outcome.actual, palette)
    word = verdict_of(outcome.actual) if region.width >= WORDED_FROM else ""
    tail: list[Piece] = [
        (share(outcome.predicted), ink(palette.text, bold=True)),
        (" → ", muted),
        (sign, style),
        (f" {word:<7}" if word else "", style),
        (f"{optional(outcome.brier):>5}", muted),
    ]
    tail_w = sum(width_of(text) for text, _ in tail)
    x = region.width - tail_w
    for name in reversed(columns):
        told = {
            "frame": outcome.frame,
            "asked": f"“{case.asked}”" if case.asked else "",
            "category": outcome.category,
            "relations": " ".join(case.relations),
        }[name]
        x -= columns[name] + 2
        region.put(x, 0, clean(told), muted, width=columns[name])
    start = region.put(1, 0, age(outcome.at, now), muted, width=6, align="right") + 1
    title = clean(case.title) or short_id(outcome.block_id)
    region.put(start, 0, title, ink(palette.text, bold=chosen), width=x - start - 1)
    region.pieces(region.width - tail_w, 0, tail)
