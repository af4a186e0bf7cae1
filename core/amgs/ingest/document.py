"""What every reader returns for a file: its text, as passages of a document or as turns of a conversation;
its pieces, cut at natural places, each with the headings above it; and its links to other files.
"""

from __future__ import annotations

import codecs
import posixpath
import re
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

from amgs.identity import file_of
from amgs.text.markdown import remove_plumbing, slug, split_fences

_INLINE = re.compile(
    r"(?<!!)\[(?:[^\[\]\n]|\[[^\[\]\n]*\])*\]\(\s*<?([^()\s<>]+(?:\([^()\s]*\)[^()\s<>]*)?)>?[^()\n]*\)"
)
_LABELLED = re.compile(r"(?<!!)\[([^\[\]\n]+)\](?:\[([^\[\]\n]*)\])?(?![\[(:])")
_DEFINED = re.compile(r"^ {0,3}\[(?!\^)([^\[\]\n]+)\]:[ \t]*<?([^\s<>]+)", re.MULTILINE)
_SCHEME = re.compile(r"^(?:[a-z][a-z0-9+.-]*:|//|#|mailto)", re.IGNORECASE)


def definitions(text: str) -> dict[str, str]:
    """Return what the labels of a Markdown text stand for, in lower case."""
    return {match[1].lower(): match[2] for match in _DEFINED.finditer(text)} if "]:" in text else {}


def references(text: str, labels: Mapping[str, str]) -> tuple[str, ...]:
    """Return the files that a text links to, as they are written, each once; code is left out. labels: see
    `definitions`.
    """
    if "](" not in text and not labels:
        return ()
    targets: list[str] = []
    for part, code in split_fences(text):
        if code:
            continue
        targets += (match[1] for match in _INLINE.finditer(part))
        if labels:
            used = (match[2] or match[1] for match in _LABELLED.finditer(part))
            targets += (labels[name.lower()] for name in used if name.lower() in labels)
    bare = (unquote(target.partition("#")[0].partition("?")[0]) for target in targets if not _SCHEME.match(target))
    return tuple(dict.fromkeys(path for path in bare if path.strip("./ ")))


def resolve_reference(reference: str, source: str) -> str:
    """Return the slug of the file that a source refers to; a reference that begins with a slash is looked for from the
    root.
    """
    folder = posixpath.dirname(file_of(source))
    path = posixpath.normpath(reference.lstrip("/") if reference.startswith("/") else posixpath.join(folder, reference))
    return slug(path)


def slugs_of(path: str) -> tuple[str, ...]:
    """Return the slugs by which a file is referred to: its name alone, its path, and its path with the ending."""
    pure = PurePosixPath(path)
    return (slug(pure.stem), slug(str(pure.with_suffix(""))), slug(path)) if pure.name else ()


def list_references(meta: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the slugs of the files that a block refers to, from each of its sources."""
    targets = meta.get("refers_to") or ()
    sources = meta.get("sources") or [meta.get("source") or ""]
    return tuple(dict.fromkeys(resolve_reference(str(target), str(source)) for source in sources for target in targets))


class UnfitError(ValueError):
    """A file that its reader cannot read; the message completes "it was not ingested: …"."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A stretch of a document that is not split if it fits into a piece: a paragraph, table, code fence, function.

    [start, end): characters of the text. path: headings above it, outermost first, including its own. level: depth of
    the section that begins with it, from 1; else 0. heading: it is only a heading. lines: if too long, split it between
    lines (code, tables), not sentences.
    """

    start: int
    end: int
    path: tuple[str, ...] = ()
    level: int = 0
    heading: bool = False
    lines: bool = False


@dataclass(frozen=True, slots=True)
class Utterance:
    """One turn of a conversation. at: when it was said, None if unknown."""

    speaker: str
    text: str
    at: datetime | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ParsedDocument:
    """A file as read: either passages, in order without overlap, or turns.

    first_line: line of the file at which the text begins, 0 if the text was generated from the file. front: front
    matter. meta: metadata from the format. date: as written, or a time.
    """

    text: str
    passages: tuple[Passage, ...] = ()
    turns: tuple[Utterance, ...] = ()
    title: str = ""
    date: datetime | str | None = None
    front: Mapping[str, Any] = field(default_factory=dict)
    meta: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    first_line: int = 0
    form: str = "text"

    @cached_property
    def _breaks(self) -> list[int]:
        return [i for i, c in enumerate(self.text) if c == "\n"]

    def lines_of(self, start: int, end: int) -> tuple[int, int]:
        """Return the first and last line of the file for [start, end) of the text; (0, 0) if unknown."""
        if self.first_line:
            first, last = (bisect_right(self._breaks, at - 1) for at in (start, max(start, end - 1)))
            return self.first_line + first, self.first_line + last
        return 0, 0


def prepend_title(path: tuple[str, ...], title: str) -> tuple[str, ...]:
    """Return a path of headings that begins with the document's title."""
    return path if not title or path[:1] == (title,) else (title, *path)


class Outline:
    """The current path of headings while a document is read from top to bottom."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> tuple[str, ...]:
        """Add a heading of this level, closing equal and deeper ones; return the path."""
        self.leave(level)
        self._open.append((level, title))
        return self.path

    def leave(self, level: int) -> None:
        """Close the headings of this level and deeper."""
        self._open = [(depth, name) for depth, name in self._open if depth < level]

    @property
    def path(self) -> tuple[str, ...]:
        return tuple(name for _, name in self._open)


_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LOOKED_AT = 65_536
_REPLACED = "\ufffd"
_MOST_FOREIGN = 0.15
"""With a larger share of bytes over 127, a text is not in a Western script, and windows-1252 would produce nonsense."""


def decode(raw: bytes) -> tuple[str, str]:
    """Decode a file's bytes; return the text with LF line ends, and a warning ("" for none) if the encoding was
    guessed.

    Raises UnfitError if it is not text.
    """
    encoding = next((name for mark, name in _MARKS if raw.startswith(mark)), "utf-8")
    try:
        return unify_line_ends(raw.decode(encoding)), ""
    except UnicodeDecodeError as error:
        if encoding != "utf-8":
            raise UnfitError(f"it begins as {encoding.upper()} and does not go on so") from None
        at = error.start
    if b"\x00" in raw[:_LOOKED_AT]:
        raise UnfitError("it is not UTF-8 but a binary file")
    mended = raw.decode("utf-8", "replace")
    bad = mended.count(_REPLACED)
    if sum(c > "\x7f" for c in mended) > 2 * bad:
        warning = f"it is not UTF-8 throughout (byte {at}); {bad} characters were replaced by {_REPLACED}"
        return unify_line_ends(mended), warning
    guessed = _western(raw)
    if guessed is None:
        raise UnfitError(f"it is not UTF-8 (byte {at}); save it as UTF-8")
    return unify_line_ends(guessed), f"it is not UTF-8 (byte {at}); it was read as windows-1252"


def unify_line_ends(text: str) -> str:
    """Return the text with LF line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _western(raw: bytes) -> str | None:
    """Decode as windows-1252; None if that is implausible."""
    high = [byte for byte in raw if byte > 127]
    if len(high) > _MOST_FOREIGN * len(raw) or any(b < 32 and b not in b"\t\n\r\f\x1b" for b in raw):
        return None
    try:
        return raw.decode("cp1252")
    except UnicodeDecodeError:
        return None


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
            text = remove_plumbing(text)
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
