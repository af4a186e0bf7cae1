"""Draw the working context as text: the texts of the lifetime, what the model reads of them, and the answer."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Final

import numpy as np

from amgs.types import COMPONENTS
from amgs_app.render.canvas import Piece, Region, clean, cut, ink, width_of
from amgs_app.render.format import short_id
from amgs_app.render.glyphs import SHADES, scroll_note, wrap
from amgs_app.render.rows import RowList, Rows
from amgs_focus.records import SpanSource
from amgs_focus.views import EntryView, FocusView

if TYPE_CHECKING:
    from amgs_focus.dependence import AnswerDependence

Lit = Mapping[int, int]
"""Blocks on which the answer depends, by index, and the number shown beside each."""
_KINDS: Final[Mapping[str, str]] = {"question": "the question", "generated": "the answer"}
_GUTTER = 3
_WORD = re.compile(r"(\s*)(\S+)")
_HALF = "� "


@dataclass(frozen=True, slots=True)
class MemoryText:
    """A text of the lifetime, from token `start` to `end`.

    whole: tokens of it that the model reads as tokens. rank: rank, from 1, of the best block in it that the question's
    search found; None for none.
    """

    name: str
    source: str | None
    start: int
    end: int
    whole: int
    rank: int | None

    @property
    def read(self) -> str:
        size = self.end - self.start
        return "all" if self.whole == size else f"{self.whole:,} of {size:,}" if self.whole else "as gists"


MEMORY: Final = Rows[MemoryText](
    "found~! text*! read!",
    lambda text: (None if text.rank is None else f"◆{text.rank}", text.name, text.read),
    key=lambda text: text.source,
    tones={"◆": "accent", "all": "good"},
)


def list_memory(view: FocusView) -> RowList[MemoryText]:
    """List the texts of the lifetime in order, and how much of each the model reads."""
    bounds = np.array([bound for entry in view.entries for bound in (entry.start, entry.end)], np.int64)
    sizes = [size for entry in view.entries for size in (0, 0 if entry.level else entry.end - entry.start)]
    whole = np.cumsum(sizes)
    starts = [block * view.block_size for block in view.found]
    texts = []
    for name, run in groupby(_name_spans(view), key=lambda named: named[0]):
        spans = [span for _, span in run]
        start, end = spans[0].start, spans[-1].end
        before, after = np.interp((start, end), bounds, whole)
        rank = next((rank for rank, block in enumerate(starts, 1) if start <= block < end), None)
        texts.append(MemoryText(name, spans[-1].source, start, end, round(after - before), rank))
    return MEMORY.of("the memory", texts)


def _name_spans(view: FocusView) -> list[tuple[str, SpanSource]]:
    """Return each span of the lifetime with its name; separators get the name of the text that follows."""
    named: list[tuple[str, SpanSource]] = []
    name = ""
    for span in reversed(view.sources):
        known = span.label or _KINDS.get(span.kind, "")
        name = clean(known or (short_id(span.source) if span.source else "")) or name or "a text"
        named.append((name, span))
    return named[::-1]


class Names:
    """Names of the origins of a lifetime's tokens."""

    def __init__(self, view: FocusView) -> None:
        self.named = _name_spans(view)
        self.starts = [span.start for _, span in self.named]

    def name_at(self, token: int) -> str:
        """Return the name of the text that a token belongs to."""
        return self.named[max(0, bisect_right(self.starts, token) - 1)][0] if self.named else "a text"


# --- what the model reads -----------------------------------------------------------------------------------


@dataclass(slots=True)
class _Line:
    """A line of the window. entries: indexes of the entries whose words are on it."""

    pieces: list[Piece]
    entries: list[int]


def mark_of(entry: EntryView) -> str:
    """Return the sign of what happened to an entry: opened ▲ or closed ▽ at the last refocus, pinned ◆, forbidden ×, or
    "".
    """
    if entry.reason == "applied" and entry.last_action == "collapse":
        return "▽"
    if entry.reason == "applied" and entry.level == 0:
        return "▲"
    return "◆" if entry.pinned else "×" if entry.forbidden else ""


def draw_window(region: Region, view: FocusView, selected: int, lit: Lit) -> None:
    """Draw what the model reads, scrolled to the selected entry: tokens as words, each gist as a grey line."""
    palette = region.palette
    signs = [mark_of(entry) for entry in view.entries]
    changed = f"▲ {signs.count('▲')} opened ▽ {signs.count('▽')} closed" if view.refocuses else ""
    body = region.part(0, 1)
    lines = list(_lines(body, view, selected, lit))
    selected_line = next((n for n, line in enumerate(lines) if selected in line.entries), 0)
    first = max(0, min(selected_line - body.height // 3, len(lines) - body.height))
    note = scroll_note(first, body.height, len(lines))
    region.rule(0, "what the model reads now", " · ".join(filter(None, (changed, note))), strong=True)
    tones = {"▲": palette.heat_high, "▽": palette.heat_low, "◆": palette.accent, "×": palette.bad}
    for y, line in enumerate(lines[first : first + body.height]):
        body.put(0, y, "▸" if selected in line.entries else " ", ink(palette.accent, bold=True))
        for place in line.entries[:1] if len(line.entries) == 1 else line.entries[::-1]:
            number = lit.get(view.entries[place].index) if view.entries[place].level == 0 else None
            if number is not None:
                body.put(1, y, str(number), ink(tone_of(region, number), bold=True))
            elif signs[place]:
                body.put(1, y, signs[place], ink(tones[signs[place]], bold=True))
        body.pieces(_GUTTER, y, line.pieces, width=body.width - _GUTTER)
        if line.entries:
            body.lists(y, line.entries[-1])


def _lines(region: Region, view: FocusView, selected: int, lit: Lit) -> Iterator[_Line]:
    """Yield the lines of the window in order."""
    width, names = region.width - _GUTTER - 1, Names(view)
    for whole, run in groupby(range(len(view.entries)), key=lambda place: view.entries[place].level == 0):
        if whole:
            yield from _word_lines(region, view, list(run), selected, names, lit, width)
        else:
            before = ""
            for place in run:
                name = names.name_at(view.entries[place].start)
                yield _gist_line(region, view, place, selected, "" if name == before else name, width)
                before = name


def _gist_line(region: Region, view: FocusView, place: int, selected: int, name: str, width: int) -> _Line:
    """Return the line of a gist: the beginning of its text and its source. name: "" if the line above names it."""
    palette = region.palette
    style = ink(palette.muted, on=palette.selection if place == selected else None)
    label = f" ← {cut(name, width // 3)}" if name else ""
    shade = SHADES[min(view.entries[place].level, 4)]
    begins = cut(f"{shade} …{clean(view.texts[place].strip(_HALF))}…", width - width_of(label))
    return _Line([(begins, style), (label, ink(palette.part_similarity))], [place])


def _word_lines(
    region: Region, view: FocusView, places: Sequence[int], selected: int, names: Names, lit: Lit, width: int
) -> Iterator[_Line]:
    """Yield the lines of entries read as tokens, with a line that names the text wherever another begins."""
    palette = region.palette
    texts = [view.texts[place] for place in places]
    ends = list(accumulate(map(len, texts)))
    name, line, used = "", _Line([], []), 0
    for match in _WORD.finditer("".join(texts)):
        index = bisect_right(ends, match.start(2))
        place, blanks, word = places[index], match[1], cut(clean(match[2]), width)
        entry, inside = view.entries[place], match.start(2) - (ends[index - 1] if index else 0)
        # Where in a block another text begins is known in tokens alone: its first line break near there is taken.
        source = names.name_at(entry.start + (entry.end - entry.start) * inside // len(texts[index]))
        turns = source != name and (not name or "\n" in blanks)
        if line.pieces and (turns or "\n\n" in blanks or used + 1 + width_of(word) > width):
            yield line
            line, used = _Line([], []), 0
        if turns:
            name = source
            yield _Line([(f"─ {cut(name, width - 4)} ", ink(palette.part_similarity))], [])
        chosen = palette.selection if place == selected else None
        if line.pieces:
            line.pieces.append((" ", ink(on=chosen)))
        number = lit.get(entry.index)
        tone = palette.text if number is None else tone_of(region, number)
        line.pieces.append((word, ink(tone, on=chosen, bold=number is not None)))
        used += width_of(word) + bool(used)
        if place not in line.entries:
            line.entries.append(place)
    if line.pieces:
        yield line


def tone_of(region: Region, number: int) -> str:
    """Return the colour of the block with this number."""
    return region.palette.part(COMPONENTS[number % len(COMPONENTS)])


# --- the answer ---------------------------------------------------------------------------------------------


def number_blocks(depends: AnswerDependence | None) -> Lit:
    """Number the blocks that the answer depends on, in the order of its words."""
    blocks = () if depends is None else (word.block for word in depends.words)
    return {index: n for n, index in enumerate(dict.fromkeys(block.index for block in blocks if block), 1)}


_SOURCE: Final = 22
"""Cells of a source's name below the answer, so that the gains of three stand in two lines of 80."""


def describe_dependence(depends: AnswerDependence, view: FocusView) -> str:
    """Return a sentence about which blocks the answer depends on, in nats, and about the control block."""
    lit, names = number_blocks(depends), Names(view)
    gains = {block.index: gain for block, gain in zip(depends.blocks, depends.gains, strict=True)}
    clauses = [
        f"[{lit[index]}] {gains[index]:+.1f} {cut(names.name_at(index * view.block_size), _SOURCE)}"
        for index in sorted(lit, key=lambda index: -gains[index])[:3]
    ]
    control = sum(word.control for word in depends.words)
    beside = f"a block that was not open {control:+.1f}" if depends.control else "no block to compare with"
    clauses = clauses or ["no word depends on an open block"]
    return f"Gains in nats: {' · '.join([beside, *clauses])}"


def draw_answer(region: Region, view: FocusView, depends: AnswerDependence | None) -> None:
    """Draw the question and the end of the answer, coloured by the blocks it depends on; beside it the answer of the
    parent branch, or of the latest child.
    """
    here = next((branch for branch in view.branches if branch.active), None)
    kin = [
        branch
        for branch in view.branches
        if here is not None and not branch.active and (branch.name == here.parent or branch.parent == here.name)
    ]
    runs: list[tuple[str, int | None]] = [(view.text, None)]
    if depends is not None:
        lit = number_blocks(depends)
        runs = [(word.text, lit[word.block.index] if word.block else None) for word in depends.words]
        lines = wrap(describe_dependence(depends, view), max(8, region.width - 2), 2)
        for y, line in enumerate(lines, region.height - len(lines)):
            region.put(1, y, line, ink(region.palette.muted))
        region = region.part(0, 0, None, region.height - len(lines))
    asked = wrap(clean(view.question), region.width - 4, 1) if view.question and region.height >= 4 else []
    beside = kin[-1] if kin and region.width >= 60 else None
    half = region.part(0, 0, region.width // 2 - 1 if beside else None)
    title = f"the answer on {view.branch}" if kin else "the answer"
    _draw_text(half, title, runs, len(asked), "■" if view.finished else "▌")
    if beside is not None:
        other = region.part(region.width // 2 + 1, 0)
        _draw_text(other, f"on {beside.name}", [(beside.text, None)], len(asked))
    for line in asked:
        region.put(1, 1, f"› {line}", ink(region.palette.accent))


def _draw_text(region: Region, title: str, runs: Sequence[tuple[str, int | None]], above: int, end: str = "") -> None:
    """Draw a titled rule and the end of a text below it, leaving `above` lines free."""
    region.rule(0, title, strong=bool(end))
    body = region.part(1, 1 + above)
    lines = _flow(region, [*runs, (end, None)], body.width - 2)
    for y, pieces in enumerate(lines[-body.height :] if body.height else ()):
        body.pieces(0, y, pieces)


def _flow(region: Region, runs: Sequence[tuple[str, int | None]], width: int) -> list[list[Piece]]:
    """Break runs of text into lines; a run with a number gets its colour and the number in brackets."""
    lines: list[list[Piece]] = [[]]
    used = 0
    for number, group in groupby(runs, key=lambda run: run[1]):
        tone = ink(region.palette.text) if number is None else ink(tone_of(region, number), bold=True)
        text = "".join(text for text, _ in group)
        words = [(match[1], cut(clean(match[2]), width)) for match in _WORD.finditer(text)]
        if number is not None and words:
            words.append((" ", f"[{number}]"))
        for blanks, word in words:
            if used and used + bool(blanks) + width_of(word) > width:
                lines.append([])
                used = 0
            gap = " " if blanks and used else ""
            lines[-1].append((f"{gap}{word}", tone))
            used += len(gap) + width_of(word)
    return lines
