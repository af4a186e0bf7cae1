"""A recording of the terminal as files: asciicast v2 for a player, and one animated SVG for a page.

An SVG holds every distinct row once. Its stills stand side by side, and one CSS animation shows them in turn.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from rich.color import ColorSystem
from rich.segment import Segment
from rich.style import Style

Row = tuple[Segment, ...]

LAST_SECONDS: Final = 3.0
"""How long the last still stands before the picture begins again."""
_CELL, _LINE, _MARGIN = 8.615, 18, 12
"""A cell is as wide as Fira Code's letters of 14 pixels: a viewer that knows no `textLength` draws them so."""
_PIECE = re.compile(r"[\u2190-\u2bff]{1,8}\s*|[^\s\u2190-\u2bff]+(?:\s[^\s\u2190-\u2bff]+)*\s*|\s+")
"""Signs, which another font draws with widths of its own, and words up to a gap: each piece is put in its place."""
_FONT = '"Fira Code","DejaVu Sans Mono",Menlo,Consolas,monospace'


@dataclass(frozen=True, slots=True)
class Still:
    """The terminal from an instant on. at: seconds since the start. typed: the command that was entered here."""

    at: float
    rows: tuple[Row, ...]
    typed: str = ""


@dataclass(frozen=True, slots=True)
class Cast:
    """Stills in the order of time, of one size in cells. foreground, background: of a cell that names none, #rrggbb."""

    width: int
    height: int
    title: str
    stills: tuple[Still, ...]
    foreground: str
    background: str

    @property
    def seconds(self) -> float:
        return self.stills[-1].at + LAST_SECONDS


def asciicast(cast: Cast) -> str:
    """The recording in asciicast v2: a line of JSON for the header, one for each event. Each still sends the rows that
    changed; a command that was entered is a marker.
    """
    header = {"version": 2, "width": cast.width, "height": cast.height, "title": cast.title}
    lines = [json.dumps(header), json.dumps([0.0, "o", "\x1b[2J\x1b[?25l"])]
    shown: tuple[Row, ...] = ((),) * cast.height
    for still in cast.stills:
        at = round(still.at, 3)
        if still.typed:
            lines.append(json.dumps([at, "m", still.typed], ensure_ascii=False))
        changed = "".join(
            f"\x1b[{line};1H{_ansi(row)}"
            for line, (row, before) in enumerate(zip(still.rows, shown, strict=True), 1)
            if row != before
        )
        if changed:
            lines.append(json.dumps([at, "o", changed], ensure_ascii=False))
        shown = still.rows
    lines.append(json.dumps([round(cast.seconds, 3), "o", "\x1b[?25h"]))
    return "\n".join(lines) + "\n"


def animated_svg(cast: Cast) -> str:
    """The recording as one SVG that moves by CSS alone; where nothing moves, the last still is shown."""
    return _svg(cast, cast.stills, moves=True)


def still_svg(cast: Cast, place: int) -> str:
    """One still as an SVG."""
    return _svg(cast, (cast.stills[place],), moves=False)


def _svg(cast: Cast, stills: Sequence[Still], *, moves: bool) -> str:
    paint = _Paint(cast)
    step = cast.width + 2  # cells from one still to the next
    groups = []
    for place, still in enumerate(stills):
        uses = "".join(
            f'<use href="#{name}" y="{line * _LINE}"/>'
            for line, row in enumerate(still.rows)
            if (name := paint.name_of(row))
        )
        groups.append(f'<g transform="translate({_number(place * step * _CELL)},0)">{uses}</g>')
    width, height = round(cast.width * _CELL), cast.height * _LINE
    last = _number((len(stills) - 1) * step * _CELL)
    rules = [f".s{{transform:translateX(-{last}px)}}"]
    if moves:
        turns = "".join(
            f"{_number(100 * still.at / cast.seconds)}%{{transform:translateX(-{_number(place * step * _CELL)}px)}}"
            for place, still in enumerate(stills)
        )
        runs = f".s{{animation:s {_number(cast.seconds)}s step-end infinite}}"
        rules += [f"@keyframes s{{{turns}}}", f"@media (prefers-reduced-motion:no-preference){{{runs}}}"]
    return "\n".join(
        [
            # xml:space for viewers that know no white-space: they would run blanks together.
            '<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve"'
            f' viewBox="0 0 {width + 2 * _MARGIN} {height + 2 * _MARGIN}"'
            f" role={quoteattr('img')} aria-label={quoteattr(cast.title)}>",
            "<style>",
            f"text{{font:14px {_FONT};white-space:pre;fill:{cast.foreground}}}",
            *paint.rules(),
            *rules,
            "</style>",
            f'<rect width="100%" height="100%" rx="8" fill="{cast.background}"/>',
            "<defs>",
            *paint.rows(),
            "</defs>",
            f'<svg x="{_MARGIN}" y="{_MARGIN}" width="{width}" height="{height}"><g class="s">',
            *groups,
            "</g></svg>",
            "</svg>",
            "",
        ]
    )


class _Paint:
    """The distinct rows and colours of a recording, each named once."""

    def __init__(self, cast: Cast) -> None:
        self._cast = cast
        self._rows: dict[Row, tuple[str, str]] = {}
        self._classes: dict[str, str] = {}

    def name_of(self, row: Row) -> str:
        """The id of a row; empty for one that shows nothing."""
        if row not in self._rows:
            drawn = self._drawn(row)
            self._rows[row] = (f"r{len(self._rows)}" if drawn else "", drawn)
        return self._rows[row][0]

    def rows(self) -> list[str]:
        return [f'<g id="{name}">{drawn}</g>' for name, drawn in self._rows.values() if name]

    def rules(self) -> list[str]:
        return [f".{name}{{{rule}}}" for rule, name in self._classes.items()]

    def _drawn(self, row: Row) -> str:
        ground, words, cell = [], [], 0
        for segment in Segment.simplify(row):
            ink, paper = self._colours(segment.style)
            length = segment.cell_length
            if paper != self._cast.background:
                ground.append(
                    f'<rect x="{_number(cell * _CELL)}" width="{_number(length * _CELL + 0.3)}" height="{_LINE}" '
                    f'fill="{paper}"/>'
                )
            at = cell
            for piece in _PIECE.findall(segment.text):
                width = Segment(piece).cell_length
                text = piece.rstrip()
                if text:
                    own = Segment(text).cell_length
                    words.append(
                        f'<text x="{_number(at * _CELL)}" y="{_LINE - 5}" textLength="{_number(own * _CELL)}"'
                        f' class="{self._class_of(segment.style, ink)}">{escape(text)}</text>'
                    )
                at += width
            cell += length
        return "".join([*ground, *words])

    def _colours(self, style: Style | None) -> tuple[str, str]:
        ink, paper = self._cast.foreground, self._cast.background
        if style is not None:
            if style.color is not None and not style.color.is_default:
                ink = style.color.get_truecolor().hex
            if style.bgcolor is not None and not style.bgcolor.is_default:
                paper = style.bgcolor.get_truecolor().hex
            if style.reverse:
                ink, paper = paper, ink
        return ink, paper

    def _class_of(self, style: Style | None, ink: str) -> str:
        rule = f"fill:{ink}"
        if style is not None:
            rule += ";font-weight:bold" * bool(style.bold) + ";font-style:italic" * bool(style.italic)
            rule += ";text-decoration:underline" * bool(style.underline) + ";opacity:.6" * bool(style.dim)
        return self._classes.setdefault(rule, f"c{len(self._classes)}")


def _ansi(row: Row) -> str:
    return "".join(
        segment.text
        if segment.style is None
        else segment.style.render(segment.text, color_system=ColorSystem.TRUECOLOR)
        for segment in Segment.simplify(row)
    )


def _number(value: float) -> str:
    return f"{value:.3f}".rstrip("0").rstrip(".")
