"""Candidates as lines and as a card: what each score is made of, and what became of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from rich.style import Style

from amgs.types import COMPONENTS, Candidate, LayerReport, Weights
from amgs_app.panes.row_fields import fate_of, reason_of, state_of
from amgs_app.render.canvas import Figure, Piece, Region, clean, ink, width_of
from amgs_app.render.format import count, milliseconds, share, short_id
from amgs_app.render.glyphs import apportion, scroll_note, verdict_sign, window_of, wrap
from amgs_app.render.passage import Run, in_lines, runs_of

PART_SIGNS: Mapping[str, str] = {
    "recency": "█",
    "centrality": "▚",
    "confidence": "▒",
    "similarity": "▓",
    "reinforcement": "░",
}
_PART_SIGNS_ASCII: Mapping[str, str] = {
    "recency": "R",
    "centrality": "C",
    "confidence": "F",
    "similarity": "S",
    "reinforcement": "N",
}
_PART_WORDS = {
    "recency": "recency",
    "centrality": "centrality",
    "confidence": "confidence",
    "similarity": "similarity",
    "reinforcement": "use",
}
_NOTHING: Mapping[str, float] = {}

_LAYER_WORDS = {"prefilter": "pre-filter"}


@dataclass(frozen=True, slots=True)
class Listed:
    """Candidates as a table has them.

    numbers: what stands before each. cursor: the place of the marked one. groups: whether they stand part by part, each
    under a heading. weights: what each part scored with. verdicts: what was said of blocks, by id: 1 useful, 0 useless.
    """

    items: Sequence[Candidate]
    numbers: Sequence[int]
    weights: Callable[[Candidate], Weights]
    cursor: int | None = None
    groups: bool = False
    verdicts: Mapping[str, float] = field(default_factory=lambda: _NOTHING)

    @property
    def lines(self) -> list[int | str]:
        """Places of candidates, and the headings between them."""
        if not self.groups:
            return list(range(len(self.items)))
        lines: list[int | str] = []
        for place, item in enumerate(self.items):
            if not place or item.child != self.items[place - 1].child:
                lines.append(self._heading(item.child))
            lines.append(place)
        return lines

    def _heading(self, child: str) -> str:
        group = [item for item in self.items if item.child == child]
        chosen = sum(item.fate == "selected" for item in group)
        return f"{clean(child)} ▾ {count(chosen)} of {count(len(group))} in"


def draw_table(region: Region, listed: Listed, title: str, *, empty: str) -> None:
    """The candidates on the page with the marked one; their content below each where there is room for
    all. empty: what is said where there is none."""
    palette = region.palette
    items, lines = listed.items, listed.lines
    region.rule(0, title)
    room = region.height - 1
    each = 2 if items and room >= len(lines) + len(items) else 1
    if not items and room >= 1:
        region.put(1, 1, empty, ink(palette.muted))
    if room < 1 or not items:
        return
    place = lines.index(listed.cursor) if listed.cursor is not None else None
    first = window_of(len(lines), room if each == 1 else len(lines), place)
    shown = lines[first : first + room]
    rows = [line for line in shown if isinstance(line, int)]
    _head(region, title, scroll_note(rows[0], len(rows), len(items)) if rows else "")
    widths = _measure(region, [items[row] for row in rows], listed)
    y = 1
    for line in shown:
        if isinstance(line, str):
            region.put(1, y, line, ink(palette.accent, bold=True), width=region.width - 2)
            y += 1
            continue
        for down in range(each):
            region.lists(y + down, line)
        _row(region.part(0, y, None, each), listed, line, widths)
        y += each


def _head(region: Region, title: str, note: str) -> None:
    """The legend and the place in the list, at the right of the table's rule."""
    muted = ink(region.palette.muted)
    room = region.width - width_of(title) - 7 - (width_of(note) + 3 if note else 0)
    legend = _legend(region, room)
    x = region.width - 1 - sum(width_of(text) for text, _ in legend)
    if note:
        x -= width_of(note) + 3
        region.put(region.width - width_of(note) - 3, 0, f" {note} ", muted)
    if legend:
        region.put(x - 1, 0, " ")
        region.pieces(x, 0, legend)


@dataclass(frozen=True, slots=True)
class _Widths:
    """Cells of each column of the table; 0 leaves it out."""

    number: int
    verdict: int
    title: int
    bar: int
    tokens: int
    found: int
    fate: int


def _measure(region: Region, items: Sequence[Candidate], listed: Listed) -> _Widths:
    """Share out the line: what does not fit is taken from titles and fates; the bar keeps its part."""
    wide = region.width
    number = len(str(max(listed.numbers))) + 1
    verdict = 2 if any(item.block.id in listed.verdicts for item in listed.items) else 0
    tokens = 5 if any(item.tokens for item in items) else 0
    decided = any(item.fate != "selected" or item.child for item in items)
    fate = max((width_of(_fate(item, named=not listed.groups)) for item in items), default=0) if decided else 0
    found = 0 if decided or wide < 100 else max(len(_found(item)) for item in items)
    title = max((width_of(clean(item.block.title)) for item in items), default=0)
    room = wide - (number + verdict + 9 + tokens + (2 if fate else 0) + (found + 2 if found else 0))
    least = min(24, max(10, room // 4))
    fate = min(fate, max(12, room - least - min(title, max(24, wide * 3 // 10))))
    title = max(8, min(title, room - least - fate))
    return _Widths(number, verdict, title, max(6, min(80, room - fate - title)), tokens, found, fate)


def _row(region: Region, listed: Listed, place: int, widths: _Widths) -> None:
    item, chosen = listed.items[place], place == listed.cursor
    palette = region.palette
    muted = ink(palette.muted)
    taken = item.fate == "selected"
    x = region.put(0, 0, str(listed.numbers[place]), muted, width=widths.number + 1, align="right") + 1
    if region.height > 1:
        told = _about(item) if item.passage is not None else ""
        at = region.put(x, 1, f"{told}  ", muted, width=width_of(told) + 2) if told else x
        for line in in_lines(runs_of(item), max(region.width - at - 1, 8), 1):
            region.pieces(at, 1, _inked(line, muted, region), width=region.width - at - 1)
    region.put(0, 0, "▸" if chosen else " ", ink(palette.accent, bold=True))
    if widths.verdict:
        said = listed.verdicts.get(item.block.id)
        if said is not None:
            region.put(x, 0, *verdict_sign(said, palette))
        x += widths.verdict
    main = ink(palette.text, bold=chosen) if taken else muted
    x = region.put(x, 0, clean(item.block.title), main, width=widths.title) + 1
    score = ink(palette.text, bold=True) if taken else muted
    x = region.put(x, 0, share(item.score, 3), score, width=5, align="right") + 1
    stack = _stack(region, item, listed.weights(item), widths.bar, faded=not taken)
    region.pieces(x, 0, stack, width=widths.bar)
    x += widths.bar
    if widths.tokens:
        told = str(item.tokens) if item.tokens else "·"
        x = region.put(x, 0, told, muted, width=widths.tokens, align="right")
    if widths.found:
        x = region.put(x + 2, 0, _found(item), muted, width=widths.found)
    if widths.fate:
        colour = palette.good if taken else palette.warn if item.fate == "over_budget" else palette.muted
        region.put(x + 2, 0, _fate(item, named=not listed.groups), ink(colour), width=region.width - x - 2)
    if chosen:
        for row in range(region.height):
            region.shade(row, palette.selection)


def _about(item: Candidate) -> str:
    """Where and when the block was written, and what to know before trusting it."""
    day = f"{item.block.created_at:%Y-%m-%d}"
    return clean(" · ".join(part for part in (item.source, day, state_of(item.block)) if part))


def _inked(line: Sequence[Run], style: Style, region: Region) -> list[Piece]:
    """The runs of a line, the words that were asked for in the accent's colour."""
    return [(text, ink(region.palette.accent, bold=True) if asked else style) for text, asked in line]


def _found(item: Candidate) -> str:
    """The layers that found it, in three letters each."""
    return "+".join(layer[:3] for layer in item.layers)


def _fate(item: Candidate, *, named: bool) -> str:
    """`out · over budget: 199 tokens, 84 left`; named: with the part that it is a candidate of."""
    parts = (fate_of(item), clean(item.child) if named else "", clean(reason_of(item)))
    return " · ".join(part for part in parts if part)


def _sign(region: Region, part: str) -> str:
    return (_PART_SIGNS_ASCII if region.symbols == "ascii" else PART_SIGNS)[part]


def _legend(region: Region, room: int) -> list[Piece]:
    """The five parts with their signs, in words as long as they fit."""
    gap = " " if region.symbols == "ascii" else ""  # letters beside letters: `R recency  C centrality`
    for letters in (13, 3, 1):
        pieces: list[Piece] = []
        for name in COMPONENTS:
            colour = ink(region.palette.part(name))
            pieces += [
                (_sign(region, name), colour),
                (f"{gap}{_PART_WORDS[name][:letters]}{gap} ", ink(region.palette.muted)),
            ]
        if sum(width_of(text) for text, _ in pieces) <= room:
            return pieces
    return []


def _stack(region: Region, item: Candidate, weights: Weights, cells: int, *, faded: bool = False) -> list[Piece]:
    """The five weighted parts as one bar: its length is the score, its colours and signs are the parts."""
    palette = region.palette
    parts = item.parts.weighted(weights)
    values = [getattr(parts, name) for name in COMPONENTS]
    lengths = apportion(values, round(min(1.0, max(0.0, item.score)) * cells))
    pieces: list[Piece] = []
    for name, length in zip(COMPONENTS, lengths, strict=True):
        colour = palette.part(name)
        if faded:  # in ASCII the parts are letters, and letters are read
            colour = palette.muted if region.symbols == "ascii" else palette.fade(colour, 0.45)
        pieces.append((_sign(region, name) * length, ink(colour)))
    pieces.append(("·" * (cells - sum(lengths)), ink(palette.faint)))
    return pieces


def draw_candidate(region: Region, item: Candidate, weights: Weights) -> None:
    """The five products behind a score, then where it was found and its content."""
    palette = region.palette
    fate = f" · {_fate(item, named=True)}" if item.child or item.fate != "selected" else ""
    region.rule(0, clean(item.block.title), short_id(item.block.id) + fate, strong=True)
    lines = region.height - 1
    beside = region.width >= 90 and lines >= 3
    left = region.part(1, 1, region.width * 2 // 5 if beside else region.width - 2)
    words_w = max(width_of(name) for name in COMPONENTS)
    used = 0
    if lines >= 5:
        cells = max(4, min(24, left.width - words_w - 20))
        for row, name in enumerate(COMPONENTS):
            value, weight = getattr(item.parts, name), getattr(weights, name)
            colour = ink(palette.part(name))
            left.put(0, row, name, ink(palette.muted))
            x = left.put(words_w + 1, row, f"{share(value)} × {share(weight)} = ", ink(palette.muted))
            x = left.put(x, row, share(value * weight), ink(palette.text, bold=True))
            length = round(value * weight * cells * 2)
            left.put(x + 1, row, _sign(region, name) * min(length, left.width - x - 1), colour)
        used = len(COMPONENTS)
    else:
        products: list[Piece] = []
        for name in COMPONENTS:
            value, weight = getattr(item.parts, name), getattr(weights, name)
            products += [
                (f"{_sign(region, name)} ", ink(palette.part(name))),
                (f"{_PART_WORDS[name]} {share(value * weight)}  ", ink(palette.muted)),
            ]
        region.pieces(1, 1, products, width=region.width - 2)
        used, beside = 1, False
    found = "found by " + (", ".join(item.layers) or "nothing")
    raw = "  ".join(
        f"{name} {share(value)}"
        for name, value in (("words", item.lexical), ("meaning", item.vector), ("graph", item.graph))
        if value
    )
    body = region.part(left.width + 3, 1, region.width - left.width - 4) if beside else region.part(1, 1 + used)
    body.put(0, 0, f"{found}   {raw}", ink(palette.muted), width=body.width)
    body.put(0, 1, _about(item), ink(palette.muted), width=body.width)
    room, most = max(8, body.width - 1), max(0, body.height - 2)
    if item.passage is not None and most:
        for row, runs in enumerate(in_lines(runs_of(item), room, most), start=2):
            body.pieces(0, row, _inked(runs, ink(palette.text), region), width=body.width)
        return
    for row, line in enumerate(wrap(item.block.content, room, most), start=2):
        body.put(0, row, line, ink(palette.text))


def draw_waterfall(sheet: Figure, y: int, layers: Sequence[LayerReport]) -> int:
    """The layers from left to right; returns the lines used. Two lines with milliseconds where there is
    room.
    """
    if not layers:
        return 0
    palette = sheet.palette
    if sheet.height < 22:
        _waterfall_line(sheet, y, layers)
        return 1
    step = sheet.width // len(layers)
    for place, layer in enumerate(layers):
        x = place * step
        name = _LAYER_WORDS.get(layer.layer, layer.layer)
        off = bool(layer.skipped)
        numbers = "skipped" if off else f"{layer.candidates_in}→{layer.candidates_out}"
        name_ink, number_ink = ink(palette.muted), ink(palette.muted if off else palette.text, bold=not off)
        room = step - 3  # a blank on either side of the arrow
        new = f" +{layer.contributed}" if layer.contributed and not off else ""
        pieces: list[Piece] = [(numbers, number_ink), (new, ink(palette.good))]
        time = milliseconds(layer.milliseconds)
        first: list[Piece] = [(name, name_ink)]
        if width_of(name) + width_of(time) + 1 <= room:
            first.append((f" {time}", ink(palette.muted)))
        sheet.pieces(x + 1, y, first, width=room)
        sheet.pieces(x + 1, y + 1, pieces, width=room)
        if place:
            for row in range(2):
                sheet.put(x - 1, y + row, "▸" if not row else " ", ink(palette.faint))
    return 2


def _waterfall_line(sheet: Figure, y: int, layers: Sequence[LayerReport]) -> None:
    """The layers on one line: names and numbers are shortened alike, as far as all of them need to fit."""
    palette = sheet.palette
    arrow = " ▸ "
    names = [_LAYER_WORDS.get(layer.layer, layer.layer) for layer in layers]
    outs = ["–" if layer.skipped else str(layer.candidates_out) for layer in layers]
    numbers = ["skipped" if layer.skipped else f"{layer.candidates_in}→{layer.candidates_out}" for layer in layers]
    short = [name[:3] for name in names]
    choices = [(names, numbers), (names, outs), (short, outs)]
    room = sheet.width - 2 - len(arrow) * (len(layers) - 1)
    told = next(
        (
            list(zip(*choice, strict=True))
            for choice in choices
            if sum(width_of(f"{name} {number}") for name, number in zip(*choice, strict=True)) <= room
        ),
        list(zip(*choices[-1], strict=True)),
    )
    # Every layer at its own place where all of them fit there; else one close behind the other.
    step = sheet.width // len(layers)
    even = all(width_of(f"{name} {number}") <= step - len(arrow) for name, number in told)
    x = 1
    for place, (layer, (name, number)) in enumerate(zip(layers, told, strict=True)):
        if place:
            x = place * step + 1 if even else x
            sheet.put(x - 2, y, "▸", ink(palette.faint))
        off = bool(layer.skipped)
        number_ink = ink(palette.muted if off else palette.text, bold=not off)
        sheet.pieces(x, y, [(f"{name} ", ink(palette.muted)), (number, number_ink)], width=sheet.width - x)
        x += width_of(f"{name} {number}") + len(arrow)


def place_of_marked(items: Sequence[Candidate], marked: int | str | None) -> int | None:
    """The place of the marked candidate: given, or of the first that is this block."""
    if isinstance(marked, int):
        return marked if marked < len(items) else None
    return next((at for at, item in enumerate(items) if item.block.id == marked), None)


def title_of_rows(title: str, rows: Sequence[int], every: int) -> str:
    """A table's title; how many of the rows are shown when it is not all."""
    return title if len(rows) == every else f"{count(len(rows))} shown of {title}"
