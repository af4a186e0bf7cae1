"""Cut a document into pieces at natural places, each with the headings above it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from amgs.ingest.document import ParsedDocument, Passage, prepend_title
from amgs.text.markdown import without_plumbing

_BLANK_LINE = re.compile(r"\n(?:[^\S\n]*\n)+")
_LINE = re.compile(r"\n")
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’)\]]*\s+|(?<=[。！？｡])")
_WORD = re.compile(r"\s+")
_SECTION_SHARE = 4
"""A section begins a new piece if the present piece fills at least 1/4 of the limit."""
_TINY_SHARE = 12
"""A piece below 1/12 of the limit (a logo, a line of badges) is joined with the section after it."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a document.

    [start, end): characters of the text. path: headings above its beginning, outermost first, including its own. lines:
    first and last line of the file, (0, 0) if unknown.
    """

    text: str
    start: int
    end: int
    path: tuple[str, ...]
    lines: tuple[int, int] = (0, 0)


def cut_document(document: ParsedDocument, limit: int) -> tuple[Piece, ...]:
    """Cut a document into pieces of at most `limit` characters: whole sections, small ones joined; long ones split at
    paragraphs, else sentences (code and tables: lines), else words.

    The pieces contain the whole text except white space between them; if there are several, without Markdown comments
    and link definitions.
    """
    whole = document.text.strip()
    if len(whole) <= limit:
        start = document.text.find(whole)
        return (_piece(document, document.passages[:1], start, start + len(whole), whole),) if whole else ()
    parts = []
    for group in _groups(document, limit):
        start, end = group[0].start, group[-1].end
        text = document.text[start:end]
        if document.form == "markdown":
            text = without_plumbing(text)
        if text.strip():
            parts.append(_piece(document, group, start, end, text.strip("\n").rstrip()))
    return tuple(parts)


def _piece(document: ParsedDocument, group: Sequence[Passage], start: int, end: int, text: str) -> Piece:
    path = prepend_title(group[0].path if group else (), document.title)
    return Piece(text, start, end, path, document.lines_of(start, end))


def _groups(document: ParsedDocument, limit: int) -> Iterator[list[Passage]]:
    """Yield runs of neighbouring passages that make up a piece, none longer than the limit."""
    group: list[Passage] = []
    ends = _section_ends(document)
    for n, passage in enumerate(document.passages):
        if group and _starts_anew(group, passage, ends[n], limit):
            yield group
            group = []
        room = limit - (passage.start - group[0].start) if group else limit
        fits = passage.end - passage.start <= limit
        if fits and passage.end - passage.start > room:
            # A heading stays with the text below it.
            tail = _headings_at_end(group)
            moves = 0 < tail < len(group) and passage.end - group[-tail].start <= limit
            head, group = (group[:-tail], group[-tail:]) if moves else (group, [])
            yield head
        if fits:
            group.append(passage)
            continue
        if group and not all(p.heading for p in group) and room < limit // 2:
            tail = _headings_at_end(group)
            yield group[: len(group) - tail]
            group = group[len(group) - tail :]
        first = limit - (passage.start - group[0].start) if group else limit
        parts = _cut(document.text, passage, limit, first)
        for part in parts:
            if group and part.end - group[0].start > limit:
                yield group
                group = []
            group.append(part)
    if group:
        yield group


def _section_ends(document: ParsedDocument) -> list[int]:
    """Return for each passage where the section that begins with it ends; its own end if none begins."""
    ends = [p.end for p in document.passages]
    open_at: list[int] = []
    for n, passage in enumerate(document.passages):
        if not passage.level:
            continue
        while open_at and document.passages[open_at[-1]].level >= passage.level:
            ends[open_at.pop()] = document.passages[n - 1].end
        open_at.append(n)
    for n in open_at:
        ends[n] = document.passages[-1].end
    return ends


def _starts_anew(group: Sequence[Passage], passage: Passage, section_end: int, limit: int) -> bool:
    """Return whether the passage should begin a new piece."""
    if not passage.level or all(p.heading for p in group):
        return False
    size = group[-1].end - group[0].start
    return size * _SECTION_SHARE >= limit or (size * _TINY_SHARE >= limit and section_end - group[0].start > limit)


def _headings_at_end(group: Sequence[Passage]) -> int:
    """Count the headings at the end of a group."""
    return next((n for n, p in enumerate(reversed(group)) if not p.heading), len(group))


def cut(text: str, limit: int) -> tuple[str, ...]:
    """Cut a text of any length into parts of at most `limit` characters."""
    parts = _cut(text, Passage(0, len(text)), limit, limit)
    return tuple(text[p.start : p.end].strip() for p in parts if text[p.start : p.end].strip())


def _cut(text: str, passage: Passage, limit: int, first: int) -> list[Passage]:
    """Cut a passage into neighbouring ones of at most `limit` characters, the first of at most `first` if that is not
    too small.
    """
    inner = (_LINE,) if passage.lines else (_SENTENCE, _LINE)
    first = first if first >= limit // 4 else limit
    spans = _spans(text, passage.start, passage.end, (_BLANK_LINE, *inner, _WORD), limit, first)
    return [
        replace(passage, start=start, end=end, level=passage.level if n == 0 else 0, heading=False)
        for n, (start, end) in enumerate(spans)
    ]


def _spans(
    text: str, start: int, end: int, cuts: Sequence[re.Pattern[str]], limit: int, first: int
) -> list[tuple[int, int]]:
    """Return spans of at most `limit` characters, cut at the first pattern that helps, then at finer ones."""
    if end - start <= first:
        return [(start, end)]
    if not cuts:
        at = [start, *range(start + first, end, limit), end]
        return list(pairwise(at))
    segments = list(_split_at(cuts[0], text, start, end))
    if len(segments) == 1:
        return _spans(text, start, end, cuts[1:], limit, first)
    spans: list[tuple[int, int]] = []
    current: tuple[int, int] | None = None
    for begin, stop in segments:
        room = limit if spans else first
        if current is not None and stop - current[0] <= room:
            current = (current[0], stop)
            continue
        if current is not None:
            spans.append(current)
            room = limit
        *before, current = _spans(text, begin, stop, cuts[1:], limit, room)
        spans += before
    return spans if current is None else [*spans, current]


def _split_at(joint: re.Pattern[str], text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the spans between matches of a pattern, without empty ones; the whole span if nothing matches."""
    begin = start
    for match in joint.finditer(text, start, end):
        if match.start() > begin:
            yield begin, match.start()
            begin = match.end()
        elif match.end() > begin and not text[begin : match.end()].strip():
            begin = match.end()
    if begin < end or begin == start:
        yield begin, end
