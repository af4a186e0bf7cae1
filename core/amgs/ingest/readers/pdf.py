"""PDF, page by page (pypdf), without running heads; bookmarks tell its headings. A picture of text cannot be read."""

from __future__ import annotations

import io
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from amgs.clock import aware
from amgs.extras import explained
from amgs.ingest.document import ParsedDocument, Passage, UnfitError
from amgs.ingest.readers.line_ranges import PassageList
from amgs.text.scripts import spaceless

_LONGEST_WORD = 12
"""Characters a word on the average, above which the spaces between words were lost."""

_HYPHEN = re.compile(r"(?<=[^\W\d_])-\n(?=[a-z])")


def read(raw: bytes) -> ParsedDocument:
    """See `Reader`. Raises MissingExtraError where pypdf is not installed."""
    with explained():
        from pypdf import PdfReader
        from pypdf.errors import PyPdfError

    try:
        reader = PdfReader(io.BytesIO(raw))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnfitError("it is a PDF under a password")
        shown = [page.extract_text().replace("\r", "").split("\n") for page in reader.pages]
        bookmarks = list(_bookmarks(reader, reader.outline, 1))
        said: Any = reader.metadata or {}
    except UnfitError:
        raise
    except (
        PyPdfError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        IndexError,
        RecursionError,
        OSError,
    ) as error:
        raise UnfitError(f"its PDF cannot be read ({type(error).__name__})") from error
    pages = [_HYPHEN.sub("", "\n".join(lines)) for lines in without_running_heads(shown)]
    text = "\n\n".join(page for page in pages if page)
    if not text:
        raise UnfitError(f"its {len(pages)} pages hold no text; a scan must go through OCR first")
    warnings = []
    empty = sum(not page for page in pages)
    if empty:
        warnings.append(f"{empty} of its {len(pages)} pages {'holds' if empty == 1 else 'hold'} no text")
    if len(text) > _LONGEST_WORD * len(text.split()) and not spaceless(text):
        warnings.append("its words were found without spaces between them, so a search by words misses many")
    meta = {"pages": len(pages)} | ({"author": str(said["/Author"])} if said.get("/Author") else {})
    return ParsedDocument(
        text,
        _passages(text, pages, bookmarks),
        title=" ".join(str(said.get("/Title") or "").split()),
        date=_created(reader),
        meta=meta,
        warnings=tuple(warnings),
    )


def _bookmarks(reader: Any, outline: Any, level: int) -> Iterator[tuple[int, str, int]]:
    """The level, title and page (from 0) of each bookmark that leads to a page."""
    for one in outline:
        if isinstance(one, list):
            yield from _bookmarks(reader, one, level + 1)
        else:
            page = reader.get_destination_page_number(one)
            if page is not None and page >= 0:
                yield level, " ".join(str(one.title).split()), page


def _passages(
    text: str, pages: Sequence[str], bookmarks: Sequence[tuple[int, str, int]]
) -> tuple[Passage, ...]:
    """Passages by paragraph and page; where a bookmark's title stands on its page as a line, it is a heading."""
    found, begins, ends, at = PassageList(text), [], [], 0
    for page in pages:
        begins.append(at)
        at += len(page.split("\n")) if page else 0
        ends.append(at)
        at += 1 if page else 0
    done = 0
    for level, title, number in bookmarks:
        lines = found.lines[: ends[number]] if number < len(pages) else []
        place = heading_lines(lines, title, max(done, begins[number])) if lines else None
        if place is not None:
            found.paragraphs(done, place[0])
            found.heading(*place, level, title)
            done = place[1]
    found.paragraphs(done, len(found.lines))
    offsets = [(number, found.starts[first]) for number, first in enumerate(begins, 1) if pages[number - 1]]
    starts = [start for _, start in offsets]
    return tuple(replace(one, page=offsets[bisect_right(starts, one.start) - 1][0]) for one in found.made)


def _created(reader: Any) -> datetime | None:
    try:
        at = reader.metadata.creation_date if reader.metadata else None
        return None if at is None else aware(at)
    except (ValueError, AttributeError, OverflowError):
        return None


# Pages as lines: without what recurs from page to page, and where the heading of a bookmark stands.


NEAR = 2
"""Pages to either side on which a running head is looked for: left and right pages may have heads of their own."""

ALIKE = 10
"""Characters with which the heads of a chapter begin; the rest names the section."""

FEWEST_PAGES = 3
"""What recurs on fewer pages is taken for text."""

MOST_LINES = 4
"""Lines that one heading may fill."""

_DEEPEST_HEAD = 2
"""Lines at the top and at the bottom that may recur: a head, and a number beside it."""

_DIGITS = re.compile(r"\d+")
_LEAD = re.compile(r"[^\W\d_]{0,12}\d{1,6}|[a-z]")


def without_running_heads(pages: Sequence[Sequence[str]]) -> list[list[str]]:
    """The lines of each page without blank ones around them, and without the first and last ones that recur on pages
    near by: the same but for digits, or with a number or in capitals and the same to begin with. A second line must be
    a number, or quite the same.
    """
    kept = [_trimmed(page) for page in pages]
    for end in (0, -1):
        for depth in range(_DEEPEST_HEAD):
            edges = [_shape(page[end], varied=depth == 0) if page else "" for page in kept]
            again = [_recurs(edges, at, varied=depth == 0) for at in range(len(edges))]
            if sum(again) < FEWEST_PAGES:
                break
            kept = [
                _trimmed(page[1:] if end == 0 else page[:-1]) if recurs else page
                for page, recurs in zip(kept, again, strict=True)
            ]
    return kept


def heading_lines(lines: Sequence[str], title: str, begin: int = 0) -> tuple[int, int] | None:
    """Lines [first, end), from `begin` on, that hold a heading and nothing else but its number, or a word and a number
    before it; None where there are none. Spaces, hyphens and signs may differ.
    """
    wanted = _letters(title)
    if not wanted:
        return None
    for first in range(begin, len(lines)):
        held = ""
        for end in range(first + 1, min(len(lines), first + MOST_LINES) + 1):
            held += _letters(lines[end - 1])
            lead = held[: len(held) - len(wanted)]
            if held.endswith(wanted) and (not lead or _LEAD.fullmatch(lead)):
                return first, end
            if not held or len(held) >= len(wanted) + ALIKE:
                break
    return None


def _trimmed(lines: Sequence[str]) -> list[str]:
    first, end = 0, len(lines)
    while first < end and not lines[first].strip():
        first += 1
    while first < end and not lines[end - 1].strip():
        end -= 1
    return list(lines[first:end])


def _shape(line: str, *, varied: bool) -> str:
    spaced = " ".join(line.split())
    return _DIGITS.sub("0", spaced) if varied or not any(c.isalpha() for c in spaced) else spaced


def _recurs(edges: Sequence[str], at: int, *, varied: bool) -> bool:
    own = edges[at]
    near = [*edges[max(0, at - NEAR) : at], *edges[at + 1 : at + NEAR + 1]]
    headlike = varied and len(own) > ALIKE and ("0" in own or own.isupper())
    return bool(own) and any(own == each or (headlike and own[:ALIKE] == each[:ALIKE]) for each in near)


def _letters(text: str) -> str:
    return "".join(c for c in text.casefold() if c.isalnum())
