"""The text of packs with each sentence shaded by what it is worth for a question, kept or left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from rich.style import Style
from rich.text import Text

from amgs.types.pack_sentences import PackSentences, PackSentenceWorth
from amgs_app.render.figures.canvas import Canvas, Figure, Piece, Region, clean, cut, ink, width_of
from amgs_app.render.figures.empty_state import notice
from amgs_app.render.figures.format import count, plural
from amgs_app.render.figures.glyphs import LEVELS
from amgs_app.themes import blend

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
    """A rule with what is kept, what each stage gave on, and the text: where it is too long, what is left out of it
    first goes, then its end.
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
    lines = _lines(result, body, whole=True)
    if len(lines) > body.height:
        lines = _lines(result, body, whole=False)
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


def _lines(result: PackSentences, region: Region, *, whole: bool) -> list[ShadedLine]:
    """The members one below the other. whole: with the sentences that are left out."""
    palette = region.palette
    worths = [one.worth for one in result.sentences]
    low, reach = min(worths), max(worths) - min(worths)
    lines: list[ShadedLine] = []
    for _, group in groupby(result.sentences, key=lambda one: one.block):
        own = list(group)
        kept = sum(one.kept for one in own)
        if not kept and not whole:
            continue
        told = f"{kept} of {len(own)}"
        title = cut(clean(own[0].title), max(8, region.width - width_of(told) - 2))
        lines.append(ShadedLine(((title, ink(palette.accent, bold=True)),), told))
        runs: list[Piece] = []
        out = 0
        for one in own:
            if one.kept or whole:
                runs += _gap(out, palette.muted)
                runs += _run(one, (one.worth - low) / reach if reach > 0 else 1.0, region)
                out = 0
            else:
                out += 1
        lines += _wrapped([*runs, *_gap(out, palette.muted)], max(8, region.width))
    hidden = {one.block for one in result.sentences} - {one.block for one in result.sentences if one.kept}
    if not whole and hidden:
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
    """Runs broken at spaces into lines of at most `width` cells; a word that is longer is cut."""
    lines: list[list[Piece]] = [[]]
    used = 0
    for text, style in runs:
        for word in _words(text):
            size = width_of(word)
            if used + width_of(word.rstrip()) > width and used:
                lines.append([])
                used = 0
            if used == 0 and not word.strip():
                continue
            lines[-1].append((cut(word, width), style))
            used += min(size, width)
    return [ShadedLine(_joined(line)) for line in lines if line]


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
