"""Map the entries of the working context to the columns of a terminal; thousands of entries in a few milliseconds.

A column shows its finest level and its strongest score, never a mean, so that every opened passage is visible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from amgs_focus.records import Band, Reason
from amgs_focus.views import EntryView, FocusView

_T = TypeVar("_T", bound=np.generic)
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

NOTHING = -1
"""Level of a column beyond the end of the lifetime."""
ZOOM_FACTOR = 32.0
"""A gist stands for so many nodes of the level below; each zoom step goes a level deeper."""
LEAST_SHOWN = 32
"""Tokens shown at the closest zoom."""
Mark = Literal["", "expand", "collapse", "pinned", "forbidden", "refused", "protected"]
_MARKS: tuple[Mark, ...] = ("", "protected", "refused", "forbidden", "pinned", "collapse", "expand")


@dataclass(frozen=True, slots=True)
class Columns:
    """The content of `width` columns.

    starts, ends: (width,) token bounds in the lifetime. first, last: (width,) entries [first, last). level: (width,)
    finest level. score: (width,) the score furthest from 0. mark, reason: what happened to the entry whose middle is in
    the column. gain: (width,) measured ΔNLL or NaN.
    """

    starts: Floats
    ends: Floats
    first: Ints
    last: Ints
    level: Ints
    score: Floats
    mark: tuple[Mark, ...]
    reason: tuple[Reason | Literal[""], ...]
    gain: Floats

    @property
    def width(self) -> int:
        return len(self.starts)


def map_columns(view: FocusView, width: int, zoom: float = 1.0, offset: int = 0) -> Columns:
    """Map the view to `width` columns. offset: the lifetime token at the left edge; see offset_for."""
    entries = view.entries
    table = _cache_table(entries, lambda: _rows(entries))
    size = len(table)
    starts, ends, levels, scores = table[:, 0], table[:, 1], table[:, 2].astype(np.int64), table[:, 3]
    low, high = _bounds(view, width, zoom, offset)
    first = np.clip(np.searchsorted(ends, low, side="right"), 0, size - 1)
    last = np.clip(np.searchsorted(starts, high, side="left"), first + 1, size)
    top, bottom = _reduce(np.maximum, scores, first, last), _reduce(np.minimum, scores, first, last)
    marks, reasons, gains = _marks(entries, table, low, high)
    return Columns(
        starts=low,
        ends=high,
        first=first,
        last=last,
        level=_reduce(np.minimum, levels, first, last),
        score=np.where(top >= -bottom, top, bottom),
        mark=marks,
        reason=reasons,
        gain=gains,
    )


def zooms(view: FocusView) -> tuple[float, ...]:
    """Return the zoom factors from the whole lifetime to a single block."""
    most = view.lifetime / LEAST_SHOWN
    factors = [1.0]
    while factors[-1] * ZOOM_FACTOR < most:
        factors.append(factors[-1] * ZOOM_FACTOR)
    return (*factors, most) if most > 1 else tuple(factors)


def offset_for(view: FocusView, selected: int, zoom: float) -> int:
    """Return the offset that centres an entry, within the ends of the lifetime."""
    if zoom <= 1 or not view.entries:
        return 0
    entry = view.entries[min(max(0, selected), len(view.entries) - 1)]
    reach = _length(view) / zoom
    return int(max(0.0, min((entry.start + entry.end) / 2 - reach / 2, _length(view) - reach)))


def past_levels(bands: Sequence[Band], cut: Columns) -> Ints:
    """Return (width,) the finest level of each column in an earlier state; NOTHING beyond its end."""
    size = len(bands)
    if not size:
        return np.full(len(cut.starts), NOTHING, np.int64)
    table = _cache_table(bands, lambda: np.fromiter(chain.from_iterable(bands), np.int64, size * 3).reshape(size, 3))
    starts, ends, levels = table[:, 0], table[:, 1], table[:, 2]
    first = np.clip(np.searchsorted(ends, cut.starts, side="right"), 0, size - 1)
    last = np.clip(np.searchsorted(starts, cut.ends, side="left"), first + 1, size)
    finest_levels = _reduce(np.minimum, levels.copy(), first, last)
    finest_levels[cut.starts >= ends[-1]] = NOTHING
    return finest_levels


_TABLES: dict[int, tuple[object, NDArray[Any]]] = {}


def _cache_table(values: object, build: Callable[[], NDArray[Any]]) -> NDArray[Any]:
    """Return the table of a frozen tuple, building it at most once: scrolling and zooming draw it repeatedly.

    The cache holds the tuple itself, so that its id cannot be reused.
    """
    known = _TABLES.get(id(values))
    if known is not None and known[0] is values:
        return known[1]
    table = build()
    if len(_TABLES) >= 64:
        _TABLES.clear()
    _TABLES[id(values)] = (values, table)
    return table


def column_of(cut: Columns, token: float) -> int | None:
    """Return the column that shows a lifetime token; None outside the map."""
    place = int(np.searchsorted(cut.starts, token, side="right")) - 1
    return place if 0 <= place < cut.width and token < cut.ends[place] else None


def _length(view: FocusView) -> float:
    return float(max(view.lifetime, view.entries[-1].end))


def _bounds(view: FocusView, width: int, zoom: float, offset: int) -> tuple[Floats, Floats]:
    """Return the first and last token of each column."""
    reach = _length(view) / max(1.0, zoom)
    left = min(max(0.0, float(offset)), _length(view) - reach)
    bounds = np.linspace(left, left + reach, width + 1)
    return bounds[:-1], bounds[1:]


def _reduce(fold: np.ufunc, values: NDArray[_T], first: Ints, last: Ints) -> NDArray[_T]:
    """Apply `fold` to values[first[i]:last[i]] for every i; ranges may overlap and are never empty."""
    padded = np.append(values, values[-1:])
    pairs = np.empty(2 * len(first), np.int64)
    pairs[0::2], pairs[1::2] = first, last
    return fold.reduceat(padded, pairs)[0::2]


def _rows(entries: Sequence[EntryView]) -> NDArray[Any]:
    """Return (entries, 6): start, end, level, score, rank of the mark, and measured ΔNLL or NaN."""
    rows = [
        (e.start, e.end, e.level, e.score, _MARKS.index(_mark(e)), np.nan if e.delta_nll is None else e.delta_nll)
        for e in entries
    ]
    return np.array(rows, np.float64)


def _mark(entry: EntryView) -> Mark:
    """Return the most important fact about an entry: applied actions come before refused ones."""
    if entry.reason == "applied":
        return entry.last_action
    if entry.pinned:
        return "pinned"
    if entry.forbidden:
        return "forbidden"
    # Tokens cannot get finer; the skyline shows it already.
    finest = entry.level == 0 and entry.reason == "illegal_level"
    if entry.reason and entry.reason != "below_threshold" and not finest:
        return "refused"
    return "protected" if entry.protected else ""


def _marks(
    entries: Sequence[EntryView], table: NDArray[Any], low: Floats, high: Floats
) -> tuple[tuple[Mark, ...], tuple[Reason | Literal[""], ...], Floats]:
    """Return the highest-ranked mark of each column, its reason, and the largest gain; an entry counts in the column of
    its middle.
    """
    size, width = len(table), len(low)
    middles = (table[:, 0] + table[:, 1]) / 2
    places = np.searchsorted(low, middles, side="right") - 1
    seen = (places >= 0) & (middles < high[np.maximum(places, 0)])
    order = np.arange(size)
    best = np.full(width, -1, np.int64)
    marked = seen & (table[:, 4] > 0)
    np.maximum.at(best, places[marked], table[marked, 4].astype(np.int64) * size + (size - 1 - order[marked]))
    gains = np.full(width, np.nan)
    for index in np.flatnonzero(seen & ~np.isnan(table[:, 5])).tolist():
        place = int(places[index])
        if not abs(gains[place]) >= abs(table[index, 5]):
            gains[place] = table[index, 5]
    chosen = [None if key < 0 else entries[size - 1 - key % size] for key in best.tolist()]
    marks: tuple[Mark, ...] = tuple("" if entry is None else _mark(entry) for entry in chosen)
    return marks, tuple("" if entry is None else entry.reason for entry in chosen), gains
