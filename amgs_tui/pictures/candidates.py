"""Candidates as lines and as a card: what each score is made of, and what became of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amgs.model import COMPONENTS, Candidate, Fate, Weights
from amgs_tui.pictures.canvas import Piece, Region, clean, ink, width_of
from amgs_tui.pictures.marks import apportion, scroll_note, window_of, wrap
from amgs_tui.pictures.words import share, short_id

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
    "centrality": "central",
    "confidence": "confid",
    "similarity": "similar",
    "reinforcement": "reinf",
}
_FATES: Mapping[Fate, str] = {
    "selected": "in",
    "over_budget": "over budget",
    "duplicate": "duplicate",
    "below_threshold": "below threshold",
    "not_in_top_k": "not in top k",
    "child_dropped": "child dropped",
}


def draw_table(
    region: Region,
    items: Sequence[Candidate],
    weights: Weights,
    title: str,
    selected: str | None,
    offset: int,
    numbers: Sequence[int],
    empty: str,
) -> None:
    """The candidates from `offset` on, so that the selected one is in view; their content below each where
    there is room for all. numbers: what stands before each. empty: what is said where there is none.
    """
    palette = region.palette
    region.rule(0, title)
    each = 2 if items and region.height - 1 >= 2 * len(items) else 1
    rows = (region.height - 1) // each
    if not items and rows >= 1:
        region.put(1, 1, empty, ink(palette.muted))
    if rows < 1 or not items:
        return
    place = next((at for at, item in enumerate(items) if item.block.id == selected), None)
    first = window_of(len(items), rows, place, offset)
    shown = items[first : first + rows]
    _head(region, title, scroll_note(first, len(shown), len(items)))
    widths = _measure(region, shown, max(numbers))
    for at, item in enumerate(shown):
        line = region.part(0, 1 + at * each, None, each)
        _row(line, item, weights, numbers[first + at], widths, chosen=item.block.id == selected)


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
    title: int
    bar: int
    tokens: int
    found: int
    fate: int


def _measure(region: Region, items: Sequence[Candidate], total: int) -> _Widths:
    """Share out the line: what does not fit is taken from titles and fates; the bar keeps its part."""
    wide = region.width
    number = len(str(total)) + 1
    tokens = 5 if any(item.tokens for item in items) else 0
    decided = any(item.fate != "selected" or item.child for item in items)
    fate = max(width_of(_fate(item)) for item in items) if decided else 0
    found = 0 if decided or wide < 100 else max(len(_found(item)) for item in items)
    title = max(width_of(clean(item.block.title)) for item in items)
    room = wide - (number + 9 + tokens + (2 if fate else 0) + (found + 2 if found else 0))
    least = min(24, max(10, room // 4))
    fate = min(fate, max(12, room - least - min(title, max(24, wide * 3 // 10))))
    title = max(8, min(title, room - least - fate))
    return _Widths(number, title, max(6, min(80, room - fate - title)), tokens, found, fate)


def _row(
    region: Region, item: Candidate, weights: Weights, number: int, widths: _Widths, *, chosen: bool
) -> None:
    palette = region.palette
    muted = ink(palette.muted)
    taken = item.fate == "selected"
    x = region.put(0, 0, str(number), muted, width=widths.number + 1, align="right") + 1
    if region.height > 1:
        region.put(x, 1, clean(item.block.content), muted, width=region.width - x - 1)
    region.put(0, 0, "▸" if chosen else " ", ink(palette.accent, bold=True))
    main = ink(palette.text, bold=chosen) if taken else muted
    x = region.put(x, 0, clean(item.block.title), main, width=widths.title) + 1
    score = ink(palette.text, bold=True) if taken else muted
    x = region.put(x, 0, share(item.score, 3), score, width=5, align="right") + 1
    region.pieces(x, 0, _stack(region, item, weights, widths.bar, faded=not taken), width=widths.bar)
    x += widths.bar
    if widths.tokens:
        told = str(item.tokens) if item.tokens else "·"
        x = region.put(x, 0, told, muted, width=widths.tokens, align="right")
    if widths.found:
        x = region.put(x + 2, 0, _found(item), muted, width=widths.found)
    if widths.fate:
        colour = palette.good if taken else palette.warn if item.fate == "over_budget" else palette.muted
        region.put(x + 2, 0, _fate(item), ink(colour), width=region.width - x - 2)
    if chosen:
        for row in range(region.height):
            region.shade(row, palette.selection)


def _found(item: Candidate) -> str:
    """The layers that found it, in three letters each."""
    return "+".join(layer[:3] for layer in item.layers)


def _fate(item: Candidate) -> str:
    if item.fate == "selected":
        return "in" + (f" · {clean(item.child)}" if item.child else "")
    word = _FATES[item.fate]
    because = clean(item.because)
    if because.startswith(word):
        return f"out · {because}"
    return f"out · {word}" + (f" ({because})" if because else "")


def _sign(region: Region, part: str) -> str:
    return (_PART_SIGNS_ASCII if region.symbols == "ascii" else PART_SIGNS)[part]


def _legend(region: Region, room: int) -> list[Piece]:
    """The five parts with their signs, in words as long as they fit."""
    for letters in (13, 3, 1):
        pieces: list[Piece] = []
        for name in COMPONENTS:
            colour = ink(region.palette.part(name))
            pieces += [
                (_sign(region, name), colour),
                (f"{_PART_WORDS[name][:letters]} ", ink(region.palette.muted)),
            ]
        if sum(width_of(text) for text, _ in pieces) <= room:
            return pieces
    return []


def _stack(
    region: Region, item: Candidate, weights: Weights, cells: int, *, faded: bool = False
) -> list[Piece]:
    """The five weighted parts as one bar: its length is the score, its colours and signs are the parts."""
    palette = region.palette
    parts = item.parts.weighted(weights)
    values = [getattr(parts, name) for name in COMPONENTS]
    lengths = apportion(values, round(min(1.0, max(0.0, item.score)) * cells))
    pieces: list[Piece] = []
    for name, length in zip(COMPONENTS, lengths, strict=True):
        colour = palette.part(name)
        pieces.append((_sign(region, name) * length, ink(palette.fade(colour, 0.45) if faded else colour)))
    pieces.append(("·" * (cells - sum(lengths)), ink(palette.faint)))
    return pieces


def draw_candidate(region: Region, item: Candidate, weights: Weights) -> None:
    """The five products behind a score, then where it was found and its content."""
    palette = region.palette
    fate = f" · {_fate(item)}" if item.child or item.fate != "selected" else ""
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
    body = (
        region.part(left.width + 3, 1, region.width - left.width - 4) if beside else region.part(1, 1 + used)
    )
    body.put(0, 0, f"{found}   {raw}", ink(palette.muted), width=body.width)
    for row, line in enumerate(
        wrap(item.block.content, max(8, body.width - 1), max(0, body.height - 1)), start=1
    ):
        body.put(0, row, line, ink(palette.text))
