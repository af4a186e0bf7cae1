"""What judged readings taught of packs: weights with their intervals, what each pack is worth, whether it counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from rich.text import Text

from amgs.text.plural import plural
from amgs.types.pack_weights import PackUtility, PackWeights
from amgs_app.render.figures.canvas import Canvas, Figure, Region, clean, ink, width_of
from amgs_app.render.figures.empty_state import notice_in
from amgs_app.render.figures.format import count, signed
from amgs_app.render.figures.glyphs import wrap
from amgs_app.render.figures.list_page import ListPage

KNOWN_BEFORE: Final[Mapping[str, str]] = MappingProxyType(
    {
        "constant": "any reading",
        "asked": "keywords asked for",
        "recent": "read lately",
        "often": "read often",
        "tokens": "length read",
        "success": "useful before",
    }
)
"""What is known before a reading, in words."""
_NAME: Final = max(map(len, KNOWN_BEFORE.values()))
_INTERVAL: Final = 16
_PLOT: Final = 1 + _NAME + 8 + _INTERVAL + 1
"""Where intervals are drawn from."""
_LEAST_PLOT: Final = 9
"""Cells that an interval needs to be drawn."""


def weights(result: PackWeights, canvas: Canvas) -> Text:
    """All that was learned."""
    sheet = Figure(canvas)
    draw_weights(sheet, result)
    return sheet.render()


def draw_weights(region: Region, result: PackWeights, chosen: str = "") -> None:
    """Whether learning is better than none and why, the weights, and what each pack is worth.

    chosen: a pack that stands out.
    """
    if region.height < 2:
        return
    told = "better than none" if result.better else "not shown to be better than none"
    region.rule(0, f"{plural(result.outcomes, 'outcome')} taught", told, strong=True)
    body = region.part(0, 1)
    if not result.outcomes:
        _empty(body, result)
        return
    y = _verdict(body, result)
    reach = max(
        [
            *(max(abs(one.low), abs(one.high)) for one in result.weights),
            *(abs(one.utility) + one.utility - one.bound for one in result.packs),
        ]
    )
    listed = max(2, min(len(result.packs) + 1, body.height - y - len(result.weights) - 1))
    shared = body.part(0, y, None, body.height - y - listed)
    _shared(shared, result, reach)
    _packs(body.part(0, y + min(shared.height, len(result.weights) + 1)), result.packs, chosen, reach)


def _empty(region: Region, result: PackWeights) -> None:
    words = "Nothing was judged yet."
    if result.left_out:
        words = (
            f"{plural(result.left_out, 'verdict')}, each shared by all packs of a session, which says nothing "
            "of any of them. Judge each reading by itself, or have it credited."
        )
    notice_in(
        region,
        "Nothing learned yet",
        ("pack use NAME “a question”", "pack judge N --useful", "pack credit N “the answer”"),
        f"{words} What readings were useful teaches what a useful one looks like.",
    )


def _verdict(region: Region, result: PackWeights) -> int:
    """Why it counts or not, in up to four lines; gives how many are taken."""
    quiet = ink(region.palette.muted)
    gain = ""
    if result.gain is not None and result.low is not None and result.high is not None:
        interval = f"[{signed(result.low, 3)}, {signed(result.high, 3)}]"
        gain = f"On the last third it gains {signed(result.gain, 3)} {interval} nats a reading."
    left = f"{plural(result.left_out, 'verdict')} of whole sessions left out." if result.left_out else ""
    why = f"{result.because[:1].upper()}{result.because[1:]}."
    words = " ".join(part for part in ("For information only: no route uses it.", why, gain, left) if part)
    lines = wrap(words, max(8, region.width - 2), max(1, min(4, region.height // 5)))
    for y, line in enumerate(lines):
        region.put(1, y, clean(line), quiet, width=region.width - 2)
    return len(lines)


def _shared(region: Region, result: PackWeights, reach: float) -> None:
    """The weights that all packs share; where there is no room for all, those that say most."""
    if region.height < 2:
        return
    palette = region.palette
    quiet = ink(palette.muted)
    room = region.height - 1
    rows = result.weights
    if len(rows) > room:
        most = sorted(rows, key=lambda one: -abs(one.value))[:room]
        rows = tuple(one for one in rows if one in most)
    told = (
        "known before a reading"
        if len(rows) == len(result.weights)
        else f"{len(rows)} of {len(result.weights)}"
    )
    _head(region, told, reach, "log odds")
    for y, one in enumerate(rows, start=1):
        region.put(1, y, KNOWN_BEFORE.get(one.name, one.name), ink(palette.text), width=_NAME)
        region.put(1 + _NAME + 1, y, signed(one.value), ink(palette.text, bold=True), width=6, align="right")
        interval = f"[{signed(one.low)}, {signed(one.high)}]"
        region.put(1 + _NAME + 8, y, interval, quiet, width=_INTERVAL)
        _interval(region, y, one.low, one.value, one.high, reach)


def _head(region: Region, told: str, reach: float, unit: str) -> None:
    """What the columns hold, and the ends of the axis."""
    quiet = ink(region.palette.muted)
    region.put(1, 0, told, quiet, width=_PLOT - width_of(unit) - 2)
    region.put(_PLOT - width_of(unit) - 1, 0, unit, quiet)
    cells = _cells(region)
    if cells >= _LEAST_PLOT + 6:
        region.put(_PLOT, 0, signed(-reach, 1), quiet)
        region.put(_PLOT, 0, signed(reach, 1), quiet, width=cells, align="right")
    if cells >= _LEAST_PLOT:
        region.put(_PLOT + cells // 2, 0, "0", quiet)


def _cells(region: Region) -> int:
    """Cells of the axis, an odd number, so that one of them is 0."""
    cells = min(61, region.width - _PLOT - 1)
    return cells - (cells % 2 == 0)


def _interval(region: Region, y: int, low: float, value: float, high: float, reach: float) -> None:
    """An interval on the axis: green where all of it is above 0, red where all is below."""
    cells = _cells(region)
    if cells < _LEAST_PLOT or reach <= 0:
        return
    palette = region.palette

    def place(one: float) -> int:
        return round((one / reach + 1) / 2 * (cells - 1))

    colour = palette.good if low > 0 else palette.bad if high < 0 else palette.muted
    region.put(_PLOT + cells // 2, y, "│", ink(palette.faint))
    start, stop = place(low), place(high)
    for cell in range(start, stop + 1):
        sign = "├" if cell == start else "┤" if cell == stop else "┼" if cell == cells // 2 else "─"
        region.put(_PLOT + cell, y, sign, ink(colour))
    region.put(_PLOT + place(value), y, "●", ink(colour, bold=True))


def _packs(region: Region, packs: Sequence[PackUtility], chosen: str, reach: float) -> None:
    """What a reading of each pack is worth, the surest first."""
    if region.height < 2:
        return
    palette = region.palette
    quiet = ink(palette.muted)
    place = next((n for n, one in enumerate(packs) if one.name == chosen), None)
    page = ListPage.around(packs, region.height - 1, place)
    _head(region, page.note or "a reading of", reach, "judged  own part")
    for y, one in enumerate(page.rows, start=1):
        here = one.name == chosen
        region.put(0, y, "▸" if here else " ", ink(palette.accent, bold=True))
        region.put(1, y, clean(one.name), ink(palette.text, bold=here), width=_NAME)
        region.put(
            1 + _NAME + 1, y, signed(one.utility), ink(palette.text, bold=True), width=6, align="right"
        )
        region.put(1 + _NAME + 8, y, count(one.judged), quiet, width=6, align="right")
        region.put(1 + _NAME + 15, y, signed(one.offset), quiet, width=9, align="right")
        high = 2 * one.utility - one.bound
        _interval(region, y, one.bound, one.utility, high, reach)
