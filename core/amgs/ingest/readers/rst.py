"""reStructuredText, read for its structure: headings, directives, literal blocks, tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from amgs.ingest.document import ParsedDocument
from amgs.ingest.readers.line_ranges import PassageList, opened

_ADORNMENT = re.compile(r"^([!-/:-@\[-`{-~])\1{2,}[ \t]*$")
_DIRECTIVE = re.compile(r"^\.\.( |$)")
_CODE = re.compile(
    r"^\.\. (?:code|code-block|sourcecode|literalinclude|parsed-literal|table|list-table|csv-table|math)::"
)
_PLUMBING = re.compile(r"^\.\. (?:_[^:]+:\s|\|[^|]+\| image::)")
"""Targets and pictures that stand for a name in the text."""
_TABLE_EDGE = re.compile(r"^(?:=+(?: +=+)+|\+[-=+]+\+)[ \t]*$")
_ROLE = re.compile(r":[\w:.+-]+:`([^`]*)`")
_REFERENCE = re.compile(r"`([^`<]*?)\s*(?:<[^`>]*>)?`__?")
_SIGNS = re.compile(r"``|\*\*|\|(?=\w)|(?<=\w)\|_{0,2}|(?<=\w)_\b|`")


@dataclass(frozen=True, slots=True)
class UnderlinedTitle:
    """A heading: lines [first, end) of the text; level from 1."""

    first: int
    end: int
    level: int
    title: str


def read(raw: bytes) -> ParsedDocument:
    """See `Reader`."""
    text = opened(raw)
    found = PassageList(text.body)
    done = 0
    headings = list(underlined(found.lines))
    for heading in headings:
        _body(found, done, heading.first)
        found.heading(heading.first, heading.end, heading.level, heading.title)
        done = heading.end
    _body(found, done, len(found.lines))
    alone = headings and all(h.level > headings[0].level for h in headings[1:])
    return ParsedDocument(
        text.body,
        tuple(found.made),
        title=text.title or (headings[0].title if alone or (headings and found.made[0].heading) else ""),
        front=text.front,
        warnings=text.warnings,
        first_line=text.first_line,
    )


def underlined(lines: Sequence[str]) -> Iterator[UnderlinedTitle]:
    """The headings of a text: a line with one of signs under it that is as long, and perhaps the same above it."""
    levels: dict[tuple[str, bool], int] = {}
    for i in range(len(lines) - 1):
        title, under = lines[i].strip(), lines[i + 1].rstrip()
        if not title or not _ADORNMENT.match(under) or _ADORNMENT.match(lines[i]) or len(under) < len(title):
            continue
        above = lines[i - 1].rstrip() if i else ""
        over = above == under
        shown = plain(title)
        if not shown or (not over and (above or lines[i][0].isspace())):
            continue
        level = levels.setdefault((under[0], over), len(levels) + 1)
        yield UnderlinedTitle(i - 1 if over else i, i + 2, level, shown)


def plain(title: str) -> str:
    """A heading as it is read, without roles, references and signs."""
    bare = _SIGNS.sub("", _REFERENCE.sub(r"\1", _ROLE.sub(r"\1", title)))
    return " ".join(bare.split()) if any(c.isalnum() for c in bare) else ""


def _body(found: PassageList, first: int, end: int) -> None:
    """Paragraphs; a directive or a literal block with all that is indented under it, and a table, stay whole."""
    lines, at = found.lines, first
    while at < end:
        if not lines[at].strip():
            at += 1
            continue
        if _DIRECTIVE.match(lines[at]):
            begin = at
            stop = _indented_end(lines, at + 1, end, 1)
            if not _PLUMBING.match(lines[at]):
                found.add(begin, stop, whole=bool(_CODE.match(lines[at])))
        elif _TABLE_EDGE.match(lines[at].strip()):
            stop = _table_end(lines, at, end)
            found.add(at, stop, whole=True)
        elif lines[(stop := _run_end(lines, at, end)) - 1].rstrip().endswith("::"):
            depth = len(lines[at]) - len(lines[at].lstrip())
            after = _indented_end(lines, stop, end, depth + 1)
            found.add(at, stop)
            found.add(stop, after, whole=True)
            stop = after
        else:
            found.add(at, stop)
        at = max(stop, at + 1)


def _run_end(lines: Sequence[str], at: int, end: int) -> int:
    while at < end and lines[at].strip():
        at += 1
    return at


def _indented_end(lines: Sequence[str], at: int, end: int, depth: int) -> int:
    """The line after the last one that is indented by `depth` at least; blank lines between belong to it."""
    last = at
    while at < end:
        line = lines[at]
        if line.strip():
            if len(line) - len(line.lstrip()) < depth:
                break
            last = at + 1
        at += 1
    return last


def _table_end(lines: Sequence[str], at: int, end: int) -> int:
    """The line after a table: its last edge before a blank line."""
    edge = lines[at].strip()[0]
    last = at + 1
    for i in range(at + 1, end):
        if _TABLE_EDGE.match(lines[i].strip()):
            last = i + 1
            if edge == "=" and i + 1 < end and not lines[i + 1].strip():
                break
        elif edge == "+" and not lines[i].strip():
            break
    return max(last, _run_end(lines, at, end) if last == at + 1 else last)
