"""Candidates of a search or a frame, as rows and as a card (the parts of each score, and whether the block was
selected), and the figure of a search: what each layer did, the hits, and the selected hit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from rich.style import Style

from amgs.text.words import plural
from amgs.types import COMPONENTS, Candidate, Frame, LayerReport, SearchResult, Weights
from amgs_app.panes.row_filter import fate_of, list_candidates, reason_of, state_of
from amgs_app.render.canvas import Canvas, Figure, Piece, Region, clean, ink, width_of
from amgs_app.render.format import mark_title, milliseconds, share, short_id
from amgs_app.render.glyphs import HOLDS_SIGNS, HeaderPart, apportion, facts_line, notice_in, wrap
from amgs_app.render.passage import Run, in_lines, runs_of
from amgs_app.render.rows import RowList, Rows, join
from amgs_app.render.sheet import Marked

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

_REJECTED = 12
"""Rejected candidates shown on the screen; CSV and JSON have all."""
_LAYER_WORDS = {"prefilter": "pre-filter"}


@dataclass(frozen=True, slots=True)
class CandidateRow:
    """A row of a list of candidates. number: its rank. weights: the weights of its score. verdict: the operator's
    feedback on the block, 1 useful, 0 useless.
    """

    number: int
    item: Candidate
    weights: Weights
    verdict: float | None = None


_FILTERS = " content. category. layer. " + " ".join(f"{name}:n." for name in COMPONENTS)


def _filter_values(item: Candidate) -> tuple[Any, ...]:
    """Return the values by which a candidate can be filtered although no column shows them."""
    parts = (getattr(item.parts, name) for name in COMPONENTS)
    return item.block.content, item.block.category, " ".join(item.layers), *parts


def draw_stack(region: Region, x: int, cells: int, row: CandidateRow) -> None:
    """Draw the five weighted parts of a score as a bar of at most `cells` cells."""
    pieces = _stack(region, row.item, row.weights, cells, faded=row.item.fate != "selected")
    region.pieces(x, 0, pieces, width=cells)


CANDIDATES: Final = Rows[CandidateRow](
    "#:n id:id- verdict~+ title*! score:score!= tokens:n? frame~? fate! reason*" + _FILTERS,
    lambda row: (
        row.number,
        row.item.block.id,
        None if row.verdict is None else HOLDS_SIGNS[row.verdict >= 0.5],
        mark_title(row.item.block),
        row.item.score,
        row.item.tokens,
        row.item.child or None,
        fate_of(row.item),
        reason_of(row.item),
        *_filter_values(row.item),
    ),
    key=lambda row: row.item.block.id,
    tones={"in": "good", "✓": "good", "✗": "bad"},
    empty=("No block qualified.",),
    pane="frame",
    bar=draw_stack,
)
HITS: Final = Rows[CandidateRow](
    "#:n id:id- title*! source*~? date:day-? state~? score:score!= recency:score?- centr:score?- conf:score?-"
    " simil:score?- reinf:score?- found_by? passage/" + _FILTERS,
    lambda row: (
        row.number,
        row.item.block.id,
        row.item.block.title,
        row.item.source,
        row.item.block.created_at,
        state_of(row.item.block),
        row.item.score,
        *(getattr(row.item.parts, name) for name in COMPONENTS),
        "+".join(row.item.layers),
        Marked(runs_of(row.item)),
        *_filter_values(row.item),
    ),
    key=lambda row: row.item.block.id,
    empty=("Nothing was found. Fewer or other words may; archived blocks are not searched.",),
    pane="frame",
    bar=draw_stack,
)
LISTING: Final = join(CANDIDATES, HITS)


def list_frame(result: Frame, verdicts: Mapping[str, float] = _NOTHING) -> RowList[CandidateRow]:
    """List a frame's candidates; on the screen all that are in and the first that are out.

    verdicts: by block id, 1 useful, 0 useless.
    """
    parts = {part.name: part.weights for part in result.parts}
    rows = [
        CandidateRow(number, item, parts.get(item.child, result.weights), verdicts.get(item.block.id))
        for number, item in enumerate(list_candidates(result), 1)
    ]
    taken = [row for row in rows if row.item.fate == "selected"]
    out = [row for row in rows if row.item.fate != "selected"]
    title = f"{plural(len(rows), 'candidate')}: {len(taken)} in, {len(out)} out"
    return CANDIDATES.of(title, rows, digest=(*taken, *out[:_REJECTED]))


def list_hits(result: SearchResult) -> RowList[CandidateRow]:
    """List the hits of a search, highest score first."""
    rows = [CandidateRow(number, item, result.weights) for number, item in enumerate(result.hits, 1)]
    return HITS.of(plural(len(rows), "hit"), rows)


def _about(item: Candidate) -> str:
    """Return the block's source, date, and state such as "superseded"."""
    day = f"{item.block.created_at:%Y-%m-%d}"
    return clean(" · ".join(part for part in (item.source, day, state_of(item.block)) if part))


def _ink_runs(line: Sequence[Run], style: Style, region: Region) -> list[Piece]:
    """Colour the runs of a line, with the words of the query in the accent colour."""
    return [(text, ink(region.palette.accent, bold=True) if asked else style) for text, asked in line]


def _fate(item: Candidate) -> str:
    """Return why a candidate is in or out: `out · over budget: 199 tokens, 84 left`, with the frame's part it belongs
    to.
    """
    parts = (fate_of(item), clean(item.child), clean(reason_of(item)))
    return " · ".join(part for part in parts if part)


def _sign(region: Region, part: str) -> str:
    """Return the character that stands for a part of a score."""
    return (_PART_SIGNS_ASCII if region.symbols == "ascii" else PART_SIGNS)[part]


def _stack(region: Region, item: Candidate, weights: Weights, cells: int, *, faded: bool = False) -> list[Piece]:
    """Return the five weighted parts as a bar: its length is the score, its colours and characters are the parts."""
    palette = region.palette
    parts = item.parts.weigh_parts(weights)
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
    """Draw the five products of a score, then the block's origin and passage."""
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
    origin = "found by " + (", ".join(item.layers) or "nothing")
    raw = "  ".join(
        f"{name} {share(value)}"
        for name, value in (("words", item.lexical), ("meaning", item.vector), ("graph", item.graph))
        if value
    )
    body = region.part(left.width + 3, 1, region.width - left.width - 4) if beside else region.part(1, 1 + used)
    body.put(0, 0, f"{origin}   {raw}", ink(palette.muted), width=body.width)
    body.put(0, 1, _about(item), ink(palette.muted), width=body.width)
    room, most = max(8, body.width - 1), max(0, body.height - 2)
    if item.passage is not None and most:
        for row, runs in enumerate(in_lines(runs_of(item), room, most), start=2):
            body.pieces(0, row, _ink_runs(runs, ink(palette.text), region), width=body.width)
        return
    for row, line in enumerate(wrap(item.block.content, room, most), start=2):
        body.put(0, row, line, ink(palette.text))


def draw_waterfall(sheet: Figure, y: int, layers: Sequence[LayerReport]) -> int:
    """Draw the layers of a search from left to right; return the number of lines used: two if the figure is tall, else
    candidate.
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
    """Draw the layers on a single line, with names and numbers shortened until all fit."""
    palette = sheet.palette
    arrow = " ▸ "
    names = [_LAYER_WORDS.get(layer.layer, layer.layer) for layer in layers]
    outs = ["–" if layer.skipped else str(layer.candidates_out) for layer in layers]
    numbers = ["skipped" if layer.skipped else f"{layer.candidates_in}→{layer.candidates_out}" for layer in layers]
    short = [name[:3] for name in names]
    choices = [(names, numbers), (names, outs), (short, outs)]
    room = sheet.width - 2 - len(arrow) * (len(layers) - 1)
    labels = next(
        (
            list(zip(*choice, strict=True))
            for choice in choices
            if sum(width_of(f"{name} {number}") for name, number in zip(*choice, strict=True)) <= room
        ),
        list(zip(*choices[-1], strict=True)),
    )
    # Every layer at its own place where all of them fit there; else close behind each other.
    step = sheet.width // len(layers)
    even = all(width_of(f"{name} {number}") <= step - len(arrow) for name, number in labels)
    x = 1
    for place, (layer, (name, number)) in enumerate(zip(layers, labels, strict=True)):
        if place:
            x = place * step + 1 if even else x
            sheet.put(x - 2, y, "▸", ink(palette.faint))
        off = bool(layer.skipped)
        number_ink = ink(palette.muted if off else palette.text, bold=not off)
        sheet.pieces(x, y, [(f"{name} ", ink(palette.muted)), (number, number_ink)], width=sheet.width - x)
        x += width_of(f"{name} {number}") + len(arrow)


def search(
    result: SearchResult | None, canvas: Canvas, listed: RowList[CandidateRow] | None = None, cursor: int | None = None
) -> Figure:
    """Return the figure: layers above, hits by falling score, the selected hit's content below.

    listed: hits that match a filter; None for all.
    """
    sheet = Figure(canvas)
    if result is None:
        notice_in(
            sheet,
            "No search yet",
            ("search “dome stall in May”",),
            "A search uses every layer: words, misspelt words, meaning, and the neighbours of what was found.",
        )
        return sheet
    palette = sheet.palette
    facts = [
        HeaderPart(0, ((f"“{clean(result.query)}”", ink(palette.accent, bold=True)),)),
        HeaderPart(1, ((plural(len(result.hits), "hit"), ink(palette.text)),)),
        HeaderPart(2, ((milliseconds(result.milliseconds), ink(palette.muted)),)),
    ]
    facts_line(sheet, 0, facts)
    every = list_hits(result)
    rows = every if listed is None else listed
    if len(rows.items) < len(every.items):
        rows = replace(rows, title=f"{len(rows.items):,} shown of {every.title}")
    rest = sheet.part(0, 1 + draw_waterfall(sheet, 1, result.layers))
    row_height = 2 if rest.height >= 2 * len(rows.items) + 10 else 1
    below = min(rest.height - row_height * len(rows.items) - 2, rest.height * 2 // 3)
    below = max(below, rest.height // 3) if row_height == 1 else below
    below = below if rest.height >= 12 and rows.items else 0
    rows.draw_under(rest.part(0, 0, None, rest.height - below), cursor)
    chosen = rows.at(cursor or 0)
    if below >= 4 and chosen is not None:
        draw_candidate(rest.part(0, rest.height - below), chosen.item, result.weights)
    return sheet
