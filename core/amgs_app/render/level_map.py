"""Draw the map of the working context over the lifetime: levels of detail, scores, actions, measured gains, history."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from rich.style import Style

from amgs_app.render.canvas import Piece, Region, clean, ink, width_of
from amgs_app.render.format import share, short_count, short_id
from amgs_app.render.glyphs import DOWN, LEVELS, SHADES
from amgs_app.render.level_columns import NOTHING, Columns, column_of, map_columns, past_levels
from amgs_focus.records import Reason
from amgs_focus.views import ACTION_SIGNS, REASON_LETTERS, FocusView

GUTTER = 5
"""Cells at the left for the names of the rows."""
_REASON_WORDS: Mapping[Reason, str] = {
    "cooldown": "cooldown",
    "budget": "budget",
    "n_diff": "limit",
    "illegal_level": "no level",
    "mixed_siblings": "mixed",
    "protected_tail": "latest",
    "parent_not_open": "parent",
    "superseded": "overruled",
    "stale_gist": "stale",
}


@dataclass(frozen=True, slots=True)
class MapRows:
    """Number of lines for each row of the map; 0 leaves the row out."""

    lod: int
    source: int
    axis: int
    heat: int
    act: int
    gain: int
    past: int
    legend: int

    @property
    def total(self) -> int:
        return self.lod + self.source + self.axis + self.heat + self.act + self.gain + self.past + self.legend


def plan_rows(view: FocusView, height: int) -> MapRows:
    """Distribute the lines over the rows of the map, most important rows first."""
    measured = any(entry.delta_nll is not None for entry in view.entries)
    wanted = {"lod": 1, "source": 0, "axis": 0, "heat": 0, "act": 0, "gain": 0, "past": 0, "legend": 0}
    sky = min(view.levels, 4) + 1
    history = math.ceil(min(len(view.history), 24) / 2)
    steps = [
        ("heat", 1),
        ("act", 1),
        ("legend", 1),  # without it the letters of `act` say nothing
        ("axis", 1),
        ("source", 1 if view.sources else 0),
        ("past", min(2, history)),
        ("gain", 1 if measured else 0),
        ("heat", 1),
        ("lod", sky - 1),
        ("past", min(2, history - 2)),
        ("past", history - 4),
    ]
    left = height - 1
    for name, lines in steps:
        if lines <= 0:
            continue
        if name == "past":
            lines = min(lines, left)
        if lines <= left:
            wanted[name] += lines
            left -= lines
    return MapRows(**wanted)


def draw_map(
    region: Region, view: FocusView, rows: MapRows, *, zoom: float = 1.0, offset: int = 0, selected: int | None = None
) -> Columns:
    """Draw the rows of the map from the top of the region; return its columns."""
    field = region.part(GUTTER, 0)
    cut = map_columns(view, max(1, field.width), zoom, offset)
    y = 0
    _levels(region, field, y, rows.lod, cut)
    y += rows.lod
    if rows.axis:
        _axis(region, field, y, cut, view, selected)
        y += 1
    if rows.source:
        _name(region, y, "from")
        _sources(field, y, cut, view)
        y += 1
    if rows.heat:
        _heat(region, field, y, rows.heat, cut, view)
        y += rows.heat
    if rows.act:
        _name(region, y, "act")
        _actions(field, y, cut)
        y += 1
    if rows.gain:
        _name(region, y, "ΔNLL")
        _gains(field, y, cut)
        y += 1
    if rows.past:
        _past(region, field, y, rows.past, cut, view)
        y += rows.past
    if rows.legend:
        _legend(region, y, cut, view, refusals=bool(rows.act))
    return cut


def _name(region: Region, y: int, name: str) -> None:
    region.put(0, y, name, ink(region.palette.muted))


def _solid(region: Region, level: int) -> Style:
    """Return the style of a level: a solid background, or plain text where colour cannot be used."""
    palette = region.palette
    if palette.monochrome or region.symbols == "ascii":
        return ink(palette.text)
    colour = palette.lod(level)
    return ink(colour, on=colour)


def _digit(region: Region, level: int) -> Style:
    """Return the style of a level's digit."""
    palette = region.palette
    if palette.monochrome or region.symbols == "ascii":
        return ink(palette.background, on=palette.text, bold=True)
    colour = palette.lod(level)
    return ink(palette.on(colour), on=colour, bold=True)


def _levels(region: Region, field: Region, y: int, rows: int, cut: Columns) -> None:
    """Draw the levels as a skyline: finer levels are higher and brighter; each run begins with its digit."""
    palette = region.palette
    levels = cut.level[: cut.width].tolist()
    sky = rows > 1
    if sky:
        for row in range(rows):
            region.put(0, y + row, f"L{row}", ink(palette.muted))
    else:
        _name(region, y, "map")
    x = 0
    for (level, _), run in groupby(zip(levels, _entries(cut), strict=True)):
        wide = sum(1 for _ in run)
        top = min(level, rows - 1) if sky else 0
        for row in range(top, rows):
            field.fill(x, y + row, wide, SHADES[min(level, 4)], _solid(region, level))
        field.put(x, y + top, str(level), _digit(region, level))
        x += wide


def _entries(cut: Columns) -> list[int]:
    """Return each column's entry if there is room for a digit per entry, else zeros."""
    if not axis_is_sparse(cut):
        return [0] * cut.width
    return [int(index) for index in cut.first[: cut.width]]


def axis_is_sparse(cut: Columns) -> bool:
    """Return whether entries are so few that each has room for its digit."""
    return bool(cut.width) and int(cut.last[cut.width - 1]) - int(cut.first[0]) <= cut.width // 4


def _axis(region: Region, field: Region, y: int, cut: Columns, view: FocusView, selected: int | None) -> None:
    """Draw the axis in tokens, with the selected entry underlined."""
    palette = region.palette
    faint = ink(palette.faint)
    _name(region, y, "tok")
    field.fill(0, y, cut.width, "╌", faint)
    left, right = _selection(cut, view, selected)
    step = 14 if field.width >= 90 else 10
    for x in range(0, cut.width - 2, step):
        label = short_count(cut.starts[x])
        stop = x + width_of(label)
        if stop + 1 >= cut.width - 5:
            break
        if right < x or stop < left:
            field.put(x, y, f"┴{label}", ink(palette.muted))
    end = short_count(cut.ends[cut.width - 1])
    if right < cut.width - width_of(end):
        field.put(cut.width - width_of(end), y, end, ink(palette.muted))
    if left <= right:
        field.fill(left, y, right - left + 1, "━", ink(palette.accent, bold=True))
        field.put((left + right) // 2, y, "▲", ink(palette.accent, bold=True))


def _selection(cut: Columns, view: FocusView, selected: int | None) -> tuple[int, int]:
    """Return the first and last column of the selected entry; (-1, -2) if it is not in view."""
    if selected is None or not 0 <= selected < len(view.entries):
        return -1, -2
    entry = view.entries[selected]
    left = column_of(cut, max(float(entry.start), float(cut.starts[0])))
    right = column_of(cut, min(float(entry.end), float(cut.ends[cut.width - 1])) - 1e-6)
    if left is None or right is None or entry.end <= cut.starts[0]:
        return -1, -2
    return left, right


def _sources(field: Region, y: int, cut: Columns, view: FocusView) -> None:
    """Draw the title of each text over its columns."""
    palette = field.palette
    kinds = {"question": (palette.accent, "question"), "generated": (palette.good, "answer")}
    spans = [source for source in view.sources if source.end > cut.starts[0] and source.start < cut.ends[cut.width - 1]]
    first = np.searchsorted(cut.starts[: cut.width], [source.start for source in spans], side="left")
    last = np.searchsorted(cut.starts[: cut.width], [source.end for source in spans], side="left")
    for place, (source, left, right) in enumerate(zip(spans, first.tolist(), last.tolist(), strict=True)):
        wide = int(right) - int(left)
        colour, word = kinds.get(source.kind, (palette.text if place % 2 else palette.muted, ""))
        name = word or source.label or (short_id(source.source) if source.source else "–")
        if wide <= 0:
            continue
        if wide < 3:
            field.fill(int(left), y, wide, "▪" if word else "·", ink(colour))
            continue
        field.put(int(left), y, "▏", ink(palette.faint))
        field.put(int(left) + 1, y, clean(name), ink(colour, bold=bool(word)), width=wide - 1)


def _heat(region: Region, field: Region, y: int, rows: int, cut: Columns, view: FocusView) -> None:
    """Draw the scores: up and warm asks for more detail, down and cool for less, pale is below the threshold."""
    palette = region.palette
    _name(region, y, "heat")
    if rows > 1:
        region.put(0, y + 1, f"τ{share(view.tau_expand)}", ink(palette.muted), width=GUTTER - 1)
    shown = cut.score[: cut.width]
    scale = max(2 * view.tau_expand, float(np.max(np.abs(shown), initial=0.0)), 1e-9)
    for x, score in enumerate(shown.tolist()):
        active = score >= view.tau_expand or score <= -view.tau_collapse
        colour = palette.heat(math.copysign(0.45 + 0.55 * abs(score) / scale, score)) if active else palette.faint
        style = ink(colour, bold=active)
        size = abs(score) / scale
        if score >= 0:
            field.put(x, y, LEVELS[min(7, int(size * 8))], style)
        else:
            field.put(x, y + rows - 1, DOWN[min(2, int(size * 3))], style)


def _actions(field: Region, y: int, cut: Columns) -> None:
    """Draw what happened to entries: opened, closed, pinned, forbidden, refused with its reason's letter."""
    palette = field.palette
    for x in range(cut.width):
        mark, reason = cut.mark[x], cut.reason[x]
        if mark == "expand":
            field.put(x, y, ACTION_SIGNS[mark], ink(palette.heat_high, bold=True))
        elif mark == "collapse":
            field.put(x, y, ACTION_SIGNS[mark], ink(palette.heat_low, bold=True))
        elif mark == "pinned":
            field.put(x, y, "◆", ink(palette.accent, bold=True))
        elif mark == "forbidden":
            field.put(x, y, "×", ink(palette.bad, bold=True))
        elif mark == "refused" and reason:
            field.put(x, y, REASON_LETTERS[reason], ink(palette.warn))
        elif mark == "protected":
            field.put(x, y, "═", ink(palette.faint))


def _gains(field: Region, y: int, cut: Columns) -> None:
    """Draw measured ΔNLL in hundredths of a nat where digits fit, else only its sign."""
    palette = field.palette
    free = 0
    for x in range(cut.width):
        gain = float(cut.gain[x])
        if math.isnan(gain) or x < free:
            continue
        colour = palette.good if gain > 0 else palette.bad
        label = ("+" if gain >= 0 else "−") + share(abs(gain))
        following = np.flatnonzero(~np.isnan(cut.gain[x + 1 : x + width_of(label) + 1]))
        if following.size or x + width_of(label) > cut.width:
            label = label[0]
        field.put(x, y, label, ink(colour))
        free = x + width_of(label)


def _past(region: Region, field: Region, y: int, rows: int, cut: Columns, view: FocusView) -> None:
    """Draw earlier states, latest refocus on top, two per line."""
    _name(region, y, "past")
    palette = region.palette
    plain = palette.monochrome or region.symbols == "ascii"
    latest = [past_levels(bands, cut).tolist() for bands in reversed(view.history[-rows * 2 :])]
    empty = [NOTHING] * len(cut.starts)
    if len(view.history) > 2:
        reach = min(len(latest), rows * 2)
        if rows > 1:
            region.put(0, y + rows - 1, f"−{reach}", ink(palette.muted))
    for row in range(min(rows, math.ceil(len(latest) / 2))):
        newer = latest[row * 2]
        older = latest[row * 2 + 1] if row * 2 + 1 < len(latest) else empty
        x = 0
        for (upper, lower), run in groupby(zip(newer[: cut.width], older, strict=False)):
            wide = sum(1 for _ in run)
            _stratum(field.part(x, y + row, wide, 1), upper, lower, plain)
            x += wide


def _stratum(field: Region, upper: int, lower: int, plain: bool) -> None:
    """Draw a run of equal columns of two refocuses, the newer in the upper half of the line."""
    palette = field.palette
    if upper == NOTHING and lower == NOTHING:
        return
    finer = upper if _finer(upper, lower) else lower
    if upper == lower or plain:
        field.fill(0, 0, field.width, SHADES[min(finer, 4)], _solid(field, finer))
        return
    sign, back = ("▀", lower) if finer == upper else ("▄", upper)
    under = None if back == NOTHING else palette.lod(back)
    field.fill(0, 0, field.width, sign, ink(palette.lod(finer), on=under))


def _finer(level: int, other: int) -> bool:
    """Return whether `level` is finer than `other`; NOTHING is the coarsest."""
    return level != NOTHING and (other == NOTHING or level < other)


def _legend(region: Region, y: int, cut: Columns, view: FocusView, *, refusals: bool) -> None:
    """Draw the meaning of the signs that are on the map."""
    palette = region.palette
    muted = ink(palette.muted)
    pieces: list[Piece] = []
    marks = set(cut.mark)
    for mark, sign, colour, word in (
        ("expand", ACTION_SIGNS["expand"], palette.heat_high, "opened"),
        ("collapse", ACTION_SIGNS["collapse"], palette.heat_low, "closed"),
        ("pinned", "◆", palette.accent, "pinned"),
        ("forbidden", "×", palette.bad, "kept shut"),
        ("protected", "═", palette.faint, "latest text"),
    ):
        if mark in marks:
            pieces += [(sign, ink(colour, bold=True)), (f" {word}  ", muted)]
    refused = sorted(
        {reason for mark, reason in zip(cut.mark, cut.reason, strict=True) if mark == "refused" and reason}
    )
    if refused and refusals:
        pieces.append(("refused: ", muted))
        for reason in refused:
            pieces += [(REASON_LETTERS[reason], ink(palette.warn)), (f" {_REASON_WORDS.get(reason, reason)}  ", muted)]
    # last, where a narrow map cuts it off: the levels have their digits on the map
    for level in sorted({min(entry.level, 4) for entry in view.entries}):
        word = "word for word" if level == 0 else f"a gist for {view.block_size**level:,}"
        pieces += [(str(level), _digit(region, level)), (SHADES[level], _solid(region, level)), (f" {word}  ", muted)]
    region.pieces(GUTTER, y, pieces)
