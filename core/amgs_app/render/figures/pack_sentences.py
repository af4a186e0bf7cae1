"""The text of packs with each sentence shaded by what it is worth for a question, kept or left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final, Literal

from rich.style import Style
from rich.text import Text

from amgs.text.plural import plural
from amgs.types.pack_sentences import PackSentences, PackSentenceWorth
from amgs_app.render.figures.canvas import Canvas, Figure, Piece, Region, clean, cut, ink, width_of
from amgs_app.render.figures.empty_state import notice
from amgs_app.render.figures.format import count
from amgs_app.render.figures.glyphs import LEVELS
from amgs_app.terminal.themes import blend

ToldOf = Literal["all", "standing", "kept"]
"""Which sentences are shown: all; those of members of which one is kept; those that are kept."""
LEFT_OUT: Final = "·"
"""What stands behind the mark of a sentence that is left out."""
_SHADE: Final = 0.35
"""How much of the colour lies under the sentence that is worth most."""


@dataclass(frozen=True, slots=True)
class ShadedLine:
    """A line of the text as runs; a heading has its figures at the right."""

    pieces: tuple[Piece, ...]
    right: str = ""


def sentences(result: PackSentences, canvas: Canvas) -> Text:
    """The question, then the text."""
    if not result.sentences:
        words = "No pack answers it, or none is kept."
        return notice(canvas, "No sentence", ("pack keep NAME “a question”",), words)
    sheet = Figure(canvas)
    x = sheet.put(1, 0, "? ", ink(sheet.palette.accent, bold=True))
    sheet.put(x, 0, clean(result.query), ink(sheet.palette.text, bold=True), width=sheet.width - x - 1)
    draw_sentences(sheet.part(0, 1), result)
    return sheet.render()


def draw_sentences(region: Region, result: PackSentences) -> None:
    """A rule with what is kept, what each stage gave on, and the text: where it is too long, members of which nothing
    is kept go, then all that is left out, then its end.
    """
    if region.height < 2:
        return
    palette = region.palette
    quiet = ink(palette.muted)
    kept = sum(one.kept for one in result.sentences)
    title = ", ".join(result.packs) or "no pack"
    told = f"{count(kept)} of {plural(len(result.sentences), 'sentence')} · {result.tokens:,}/{result.budget:,} tok"
    region.rule(0, cut(clean(title), max(8, region.width - width_of(told) - 9)), told, strong=True)
    y = 1
    if result.stages and region.height >= 5:
        steps = [
            f"{one.unit} {one.count_in:,}→{one.count_out:,} ({count(one.tokens_out)} tok)"
            for one in result.stages
        ]
        region.put(1, y, "  ".join(steps), quiet, width=region.width - 2)
        y += 1
    if region.height >= 6:
        _legend(region.part(1, y, region.width - 2, 1))
        y += 1
    body = region.part(1, y, region.width - 2)
    lines: list[ShadedLine] = []
    ways: tuple[ToldOf, ...] = ("all", "standing", "kept")
    for told_of in ways:
        lines = _lines(result, body, told_of)
        if len(lines) <= body.height:
            break
    shown = lines if len(lines) <= body.height else lines[: body.height - 1]
    for row, line in enumerate(shown):
        body.pieces(0, row, line.pieces, width=body.width)
        if line.right:
            body.put(body.width - width_of(line.right), row, line.right, quiet)
    if len(shown) < len(lines):
        body.put(0, len(shown), f"… {plural(len(lines) - len(shown), 'more line')}", quiet)


def _legend(region: Region) -> None:
    palette = region.palette
    scale: list[Piece] = [
        (LEVELS[place], ink(palette.heat_high, on=_shade(region, place / 7))) for place in (0, 2, 4, 7)
    ]
    out = (f"   {LEVELS[4]}{LEFT_OUT}", ink(palette.heat_high))
    quiet = ink(palette.muted)
    region.pieces(0, 0, [("worth ", quiet), *scale, out, (" left out", quiet)], width=region.width)


def _shade(region: Region, worth: float) -> str | None:
    """What lies under a sentence of this worth, in [0, 1]; nothing in a palette without colours."""
    palette = region.palette
    return None if palette.monochrome else blend(palette.background, palette.heat_high, _SHADE * worth)


def _lines(result: PackSentences, region: Region, told_of: ToldOf) -> list[ShadedLine]:
    """The members one below the other. Only the order of worths counts, so the shade is the place among those shown."""
    palette = region.palette
    standing = {one.block for one in result.sentences if one.kept}
    shown = [
        one
        for one in result.sentences
        if told_of == "all" or one.kept or (told_of == "standing" and one.block in standing)
    ]
    order = sorted({one.worth for one in shown})
    place = {worth: n / (len(order) - 1) if len(order) > 1 else 1.0 for n, worth in enumerate(order)}
    seen = {id(one) for one in shown}
    lines: list[ShadedLine] = []
    for block, group in groupby(result.sentences, key=lambda one: one.block):
        own = list(group)
        if told_of != "all" and block not in standing:
            continue
        told = f"{sum(one.kept for one in own)} of {len(own)}"
        title = cut(clean(own[0].title), max(8, region.width - width_of(told) - 2))
        lines.append(ShadedLine(((title, ink(palette.accent, bold=True)),), told))
        runs: list[Piece] = []
        out = 0
        for one in own:
            if id(one) in seen:
                runs += _gap(out, palette.muted)
                runs += _run(one, place[one.worth], region)
                out = 0
            else:
                out += 1
        lines += _wrapped([*runs, *_gap(out, palette.muted)], max(8, region.width))
    hidden = {one.block for one in result.sentences} - standing
    if told_of != "all" and hidden:
        lines.append(ShadedLine(((f"nothing of {plural(len(hidden), 'member')}", ink(palette.muted)),)))
    return lines


def _gap(number: int, colour: str) -> list[Piece]:
    return [(f"⋯{number}", ink(colour)), (" ", None)] if number else []


def _run(one: PackSentenceWorth, worth: float, region: Region) -> list[Piece]:
    """A sentence with its mark: the height says what it is worth, a point behind it that it is left out."""
    palette = region.palette
    on = _shade(region, worth)
    mark = LEVELS[min(7, int(worth * 8))] + ("" if one.kept else LEFT_OUT)
    words = ink(palette.text if one.kept else palette.muted, on=on)
    return [(f"{mark} ", ink(palette.heat_high, on=on)), (clean(one.text), words), (" ", None)]


def _wrapped(runs: Sequence[Piece], width: int) -> list[ShadedLine]:
    """Runs broken at spaces into lines of at most `width` cells and the space behind, a mark never at the end of one;
    a word that is longer is cut.
    """
    lines: list[list[Piece]] = [[]]
    used = 0
    for text, style in runs:
        for word in _words(text):
            if used and used + width_of(word.rstrip()) > width:
                carried = [lines[-1].pop()] if lines[-1][-1][0][0] in LEVELS else []
                lines.append(carried)
                used = sum(width_of(piece) for piece, _ in carried)
            if used == 0 and not word.strip():
                continue  # no space begins a line
            lines[-1].append((word if width_of(word.rstrip()) <= width else cut(word, width), style))
            used += width_of(lines[-1][-1][0])
    return [ShadedLine(_joined([*line[:-1], (line[-1][0].rstrip(), line[-1][1])])) for line in lines if line]


def _words(text: str) -> list[str]:
    """The words of a text, each with the space behind it."""
    parts = text.split(" ")
    return [f"{part} " for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _joined(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Neighbouring runs of one style as one."""
    return tuple(
        ("".join(text for text, _ in group), style)
        for style, group in ((key, list(found)) for key, found in groupby(pieces, key=_style_of))
    )


def _style_of(piece: Piece) -> Style | None:
    return piece[1]
