"""Whether the scores mean what they say: forecasts against what came true, the Brier score and what it is
made of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from rich.text import Text

from amgs.model import Outcome, Reliability, ReliabilityBin
from amgs_tui.pictures.canvas import Canvas, Piece, Region, Sheet, clean, ink
from amgs_tui.pictures.marks import LEVELS, Fact, dot_for, facts_line, sparkline
from amgs_tui.pictures.notice import notice
from amgs_tui.pictures.strokes import Strokes
from amgs_tui.pictures.words import age, count, day, optional, plural, share, short_id

TARGET = 0.15
"""The average Brier score the specification asks for (AMGS, success metrics)."""


def calibration(
    result: Reliability | None,
    canvas: Canvas,
    *,
    now: datetime,
    outcomes: Sequence[Outcome] = (),
    titles: Mapping[str, str] | None = None,
) -> Text:
    """The reliability diagram, the parts of the Brier score, its history, and the latest outcomes with
    their blocks.
    """
    if result is None or result.outcomes == 0:
        open_forecasts = result.forecasts if result is not None else 0
        wait = f"{plural(open_forecasts, 'forecast')} wait for a verdict. " if open_forecasts else ""
        return notice(
            canvas,
            "No outcome yet",
            ("frame assemble SESSION --query “…”", "feedback useful ID", "feedback useless ID"),
            wait
            + "Each block that a frame selects is a forecast: its score says how likely it is to be useful. "
            "Your verdict is the outcome.",
        )
    sheet = Sheet(canvas)
    _head(sheet, result)
    body = sheet.part(0, 1)
    if body.width >= 74 and body.height >= 9:
        left = min(body.width * 11 // 20, body.height * 3 + 8)
        _diagram(body.part(0, 0, left), result.bins)
        _side(body.part(left + 2, 0), result, outcomes, titles or {}, now)
    else:
        top = body.height if body.height < 14 else max(9, body.height * 3 // 5)
        _diagram(body.part(0, 0, None, top), result.bins)
        _side(body.part(0, top), result, outcomes, titles or {}, now)
    return sheet.render()


def _head(sheet: Sheet, result: Reliability) -> None:
    palette = sheet.palette
    muted, plain = ink(palette.muted), ink(palette.text)
    brier = result.brier
    fine = brier is not None and brier < TARGET
    verdict = f"{'below' if fine else 'above'} the goal of {share(TARGET)}"
    facts_line(
        sheet,
        0,
        [
            Fact(
                0,
                (
                    ("Brier ", muted),
                    (optional(brier, 3), ink(palette.good if fine else palette.warn, bold=True)),
                ),
            ),
            Fact(2, ((verdict, muted),)),
            Fact(
                1,
                (
                    (plural(result.outcomes, "outcome"), plain),
                    (f" of {count(result.forecasts)} forecasts", muted),
                ),
            ),
        ],
        x=1,
    )


# --- the diagram ------------------------------------------------------------------------------------------


def _diagram(region: Region, bins: Sequence[ReliabilityBin]) -> None:
    """Predicted to the right, observed upwards; on the dotted diagonal a forecast of .7 comes true 7 times
    in 10.
    """
    palette = region.palette
    faint, muted = ink(palette.faint), ink(palette.muted)
    filled = [one for one in bins if one.count]
    if region.width < 24 or region.height < 6:
        return
    counts = 2 if region.height >= 11 else 1
    plot = region.part(5, 0, region.width - 6, region.height - 2 - counts)
    wide, high = plot.width - 1, plot.height - 1
    for part in range(5 if plot.height >= 9 else 3):
        value = part / (4 if plot.height >= 9 else 2)
        y = round((1 - value) * high)
        region.put(0, y, share(value), muted, width=4, align="right")
        region.put(4, y, "┤", faint)
        x = round(value * wide)
        region.put(
            5 + x - (3 if value == 1 else 1 if x else 0),
            plot.height + 1,
            share(value) if value else "0",
            muted,
        )
    for row in range(plot.height):
        if region.sheet.signs[region.y + row][region.x + 4] == " ":
            region.put(4, row, "│", faint)
    region.put(4, plot.height, "└", faint)
    region.fill(5, plot.height, plot.width, "─", faint)
    strokes = Strokes(plot)
    strokes.line(0.2, plot.height - 0.3, plot.width - 0.3, 0.2, faint, gap=3)
    strokes.draw()
    plot.put(1, 0, "observed", faint)
    label = "forecast"
    region.put(5 + plot.width // 4 - 1, plot.height + 1, "", faint)
    most = max((one.count for one in filled), default=1)
    for one in filled:
        x = min(wide, round(one.mean_predicted * wide))
        low, top = (round((1 - value) * high) for value in (one.rate_low, one.rate_high))
        sure = one.rate_low <= one.mean_predicted <= one.rate_high
        above = one.rate > one.mean_predicted
        colour = palette.good if sure else palette.heat_high if above else palette.heat_low
        for y in range(top, low + 1):
            plot.put(x, y, "│", ink(palette.fade(colour, 0.5)))
        sign = (dot_for(one.count, most) if sure else "▲" if above else "▼") or "·"
        plot.put(x, round((1 - one.rate) * high), sign, ink(colour, bold=True))
        y = plot.height + 2
        told = str(one.count)
        region.put(5 + max(0, min(x - len(told) // 2, plot.width - len(told))), y, told, ink(palette.text))
        if counts == 2:
            level = LEVELS[min(7, int(one.count / most * 7.99))]
            region.put(
                5 + x - (1 if x else 0), y + 1, level * (3 if 0 < x < wide else 2), ink(palette.accent)
            )
    region.put(0, plot.height + 2, "n", muted, width=4, align="right")
    if plot.width >= 40:
        plot.put(plot.width - len(label), high, label, faint)


# --- beside it --------------------------------------------------------------------------------------------


def _side(
    region: Region, result: Reliability, outcomes: Sequence[Outcome], titles: Mapping[str, str], now: datetime
) -> None:
    if region.height < 3:
        return
    y = 0
    if region.height >= 8:
        y = _parts(region, result)
    if result.history and region.height - y >= 5:
        y += _history(region.part(0, y), result)
    if region.height - y >= 3:
        _outcomes(region.part(0, y), outcomes, titles, now)


def _parts(region: Region, result: Reliability) -> int:
    """The Murphy decomposition as a sum; returns the lines used."""
    palette = region.palette
    muted, plain = ink(palette.muted), ink(palette.text, bold=True)
    region.rule(0, "what it is made of")
    rows = (
        ("+ reliability", result.reliability, "how far the bins lie from the diagonal", palette.warn),
        ("− resolution", result.resolution, "how well the bins tell blocks apart", palette.good),
        ("+ uncertainty", result.uncertainty, "what no forecast can know", palette.muted),
        ("+ within bins", result.within_bin, "what the bins round away", palette.muted),
        ("= Brier", result.brier, "0 is perfect, .25 says .5 always", palette.accent),
    )
    top = max((abs(value) for _, value, _, _ in rows if value is not None), default=1.0) or 1.0
    for row, (name, value, meaning, colour) in enumerate(rows, start=1):
        region.put(1, row, name, ink(palette.text) if row == 5 else muted)
        x = region.put(15, row, optional(value, 3), plain, width=6, align="right") + 1
        cells = min(12, region.width - x - 1)
        length = round(abs(value or 0.0) / top * cells)
        region.put(x, row, ("-" if region.symbols == "ascii" else "▬") * length, ink(colour))
        if region.width - x - cells - 2 >= len(meaning):
            region.put(x + cells + 1, row, meaning, ink(palette.faint))
    return 6


def _history(region: Region, result: Reliability) -> int:
    """The Brier score through time; returns the lines used."""
    palette = region.palette
    values = [value for _, value in result.history]
    tall = 2 if region.height >= 14 else 1
    wide = region.width - 12
    first = result.history[-min(len(values), max(wide, 1))][0]
    region.rule(0, "Brier through time", f"since {day(first)}" if region.width >= 44 else "")
    shown = values[-wide:]
    floor, top = min(shown), max(shown)
    region.put(1, 1, f"{share(shown[0])} ", ink(palette.muted))
    x = region.put(5, 1, sparkline(shown, wide, low=floor, high=top), ink(palette.accent))
    region.put(x + 1, 1, share(shown[-1]), ink(palette.text, bold=True))
    if tall == 2:
        region.put(5, 2, f"lowest {share(floor)}, highest {share(top)}", ink(palette.faint))
    return 1 + tall


def _outcomes(region: Region, outcomes: Sequence[Outcome], titles: Mapping[str, str], now: datetime) -> None:
    palette = region.palette
    muted = ink(palette.muted)
    waiting = sum(one.actual is None for one in outcomes)
    region.rule(0, "latest outcomes", f"{waiting} open" if waiting else "")
    if not outcomes:
        region.put(1, 1, "feedback useful|useless ID gives one", muted, width=region.width - 2)
        return
    for row, one in enumerate(outcomes[: region.height - 1], start=1):
        word, sign, colour = (
            ("open", "·", palette.muted)
            if one.actual is None
            else ("useful", "✓", palette.good)
            if one.actual >= 0.5
            else ("useless", "✗", palette.bad)
        )
        tail: list[Piece] = [
            (share(one.predicted), ink(palette.text)),
            (" → ", muted),
            (f"{word:<7} ", ink(colour)),
            (f"{optional(one.brier):>4}", muted),
        ]
        tail_w = sum(len(text) for text, _ in tail)
        region.put(0, row, sign, ink(colour, bold=True))
        x = region.put(2, row, age(one.at, now), muted, width=6, align="right") + 1
        title = titles.get(one.block_id) or short_id(one.block_id)
        region.put(x, row, clean(title), ink(palette.text), width=region.width - x - tail_w - 1)
        region.pieces(region.width - tail_w, row, tail)
