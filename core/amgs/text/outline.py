"""What the lines of a text are: headings, code fences, and what a reader never sees.

Four forms of plain text are read: Markdown, reStructuredText, Org, and text without any marks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Literal

Form = Literal["markdown", "rst", "org", "text"]

FORMS: Mapping[str, Form] = {
    ".md": "markdown",
    ".markdown": "markdown",
    ".rst": "rst",
    ".org": "org",
    ".txt": "text",
}
"""The form of a file by the ending of its name, in lower case."""

_ATX = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$")
_SETEXT = re.compile(r"^(?:=+|-{2,})[ \t]*$")
_ORG = re.compile(r"^\*+\s+(.+?)(?:\s+:[\w@:]+:)?\s*$")
_ORG_TITLE = re.compile(r"^#\+title:\s*(.+?)\s*$", re.IGNORECASE)
_ADORNMENT = re.compile(r"^([=\-`:'\"~^_*+#<>.])\1{2,}[ \t]*$")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_BLOCK_MARK = re.compile(r"^\s*(?:[-*+>|]|\d+[.)])\s|^\s*$")

_COMMENT = re.compile(r"^[ \t]*<!--.*?-->[ \t]*$", re.DOTALL | re.MULTILINE)
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)(?:[^\[\]\n\\]|\\.)+\]:[ \t]*\S+.*$", re.MULTILINE)

_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading. start: where its first line begins. cuts: a long note is cut before it."""

    start: int
    title: str
    cuts: bool = True


def form_of(name: str) -> Form | None:
    """The form of a file by its name; None for one that is no note."""
    return FORMS.get(PurePosixPath(name).suffix.lower())


def headings(text: str, form: Form) -> tuple[Heading, ...]:
    """The headings of a text in order; what stands in a code fence is none."""
    if form == "text":
        return ()
    if form == "rst":
        return tuple(_adorned(text))
    return tuple(_marked(text, form))


def _marked(text: str, form: Form) -> Iterator[Heading]:
    at = 0
    for part, code in fenced(text) if form == "markdown" else ((text, False),):
        before, start = "", at
        for line in part.split("\n"):
            match = None if code else (_ATX if form == "markdown" else _ORG).match(line)
            if form == "org" and match is None:
                match = _ORG_TITLE.match(line)
            if match and plain(match[1]):
                yield Heading(at, plain(match[1]))
            elif not code and form == "markdown" and _SETEXT.match(line) and _can_be_title(before):
                yield Heading(start, plain(before), cuts=False)
            before, start = line, at
            at += len(line) + 1


def _can_be_title(line: str) -> bool:
    return not _BLOCK_MARK.match(line) and not _ATX.match(line) and bool(plain(line)) and len(line) <= 120


def _adorned(text: str) -> Iterator[Heading]:
    """reStructuredText: a line with a line of signs under it that is as long, and perhaps one above."""
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    for i in range(len(lines) - 1):
        title, under = lines[i].strip(), lines[i + 1].rstrip()
        above = lines[i - 1].rstrip() if i else ""
        if (
            not _ADORNMENT.match(under)
            or _ADORNMENT.match(lines[i])
            or len(under) < len(title)
            or not plain(title)
        ):
            continue
        if above == under:
            yield Heading(starts[i - 1], plain(title))
        elif not above and not lines[i][0].isspace():
            yield Heading(starts[i], plain(title))


def plain(title: str) -> str:
    """A heading as it is read: without tags, pictures, addresses and the signs of code."""
    if not any(sign in title for sign in "<[!`"):
        return title
    bare = _TAG.sub(" ", _LINK.sub(r"\1", _IMAGE.sub(" ", title))).replace("`", "")
    return " ".join(bare.split()) if any(c.isalnum() for c in bare) else ""


# --- fences -----------------------------------------------------------------------------------------------


def has_fence(text: str) -> bool:
    """Whether a code fence may stand in a text; cheap."""
    return "```" in text or "~~~" in text


def fenced(text: str) -> tuple[tuple[str, bool], ...]:
    """The text in parts, whole lines each: what stands in a closed code fence (True), and what does not."""
    if not has_fence(text):
        return ((text, False),)
    lines = text.split("\n")
    parts: list[tuple[str, bool]] = []
    last = 0
    for first, end in _fences(lines):
        if first > last:
            parts.append(("\n".join(lines[last:first]), False))
        parts.append(("\n".join(lines[first : end + 1]), True))
        last = end + 1
    if last < len(lines):
        parts.append(("\n".join(lines[last:]), False))
    return tuple(parts)


def fence_ends(paragraphs: Sequence[str]) -> dict[int, int]:
    """The paragraphs in which a fence opens that another paragraph closes: place of the first -> place of the last."""
    lines = [(n, line) for n, paragraph in enumerate(paragraphs) for line in paragraph.split("\n")]
    ends: dict[int, int] = {}
    begun: int | None = None
    for first, last in _fences([line for _, line in lines]):
        opens, closes = lines[first][0], lines[last][0]
        if begun is not None and ends[begun] >= opens:
            ends[begun] = closes  # the next fence begins in the paragraph in which the one before ended
        elif closes > opens:
            begun = opens
            ends[begun] = closes
    return ends


def _fences(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """(first, last) line of each fence that is closed; one that never is, is none."""
    open_at, sign = -1, ""
    for i, line in enumerate(lines):
        match = _FENCE.match(line)
        if not match:
            continue
        if not sign:
            if match[1][0] == "`" and "`" in match[2]:
                continue
            open_at, sign = i, match[1]
        elif match[1][0] == sign[0] and len(match[1]) >= len(sign) and not match[2].strip():
            yield open_at, i
            sign = ""


# --- what a reader never sees -----------------------------------------------------------------------------


def without_plumbing(text: str) -> str:
    """Markdown without comments and link definitions that have lines of their own; code is left as it is."""
    if "<!--" not in text and "]:" not in text:
        return text
    parts = [part if code else _DEFINITION.sub("", _COMMENT.sub("", part)) for part, code in fenced(text)]
    return "\n".join(parts)
