"""Org: headlines, blocks between `#+BEGIN_…` and `#+END_…`, and what `#+TITLE` and its like say."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import Any

from amgs.ingest.document import ParsedDocument
from amgs.ingest.readers.line_ranges import PassageList, opened, runs

_HEADLINE = re.compile(
    r"^(\*+)\s+(?:(?:TODO|DONE|NEXT|WAITING|CANCELLED)\s+)?(?:\[#[A-Z0-9]\]\s+)?(.+?)(?:\s+:[\w@#%:]+:)?\s*$"
)
_KEYWORD = re.compile(r"^#\+(title|date|author|filetags):\s*(.+?)\s*$", re.IGNORECASE)
_BEGIN = re.compile(r"^\s*#\+begin_(\w+)", re.IGNORECASE)
_END = re.compile(r"^\s*#\+end_(\w+)\s*$", re.IGNORECASE)
_STAMP = re.compile(r"[<\[](\d{4}-\d{2}-\d{2})(?:\s+[^\W\d]+)?(?:\s+(\d{1,2}:\d{2}))?[^>\]]*[>\]]")
_LINK = re.compile(r"\[\[[^\[\]]*\]\[([^\[\]]*)\]\]|\[\[([^\[\]]*)\]\]")


def read(raw: bytes) -> ParsedDocument:
    """See `Reader`."""
    text = opened(raw)
    found = PassageList(text.body)
    said: dict[str, str] = {}
    ends: dict[str, list[int]] = {}
    for at, line in enumerate(found.lines):
        if match := _END.match(line):
            ends.setdefault(match[1].lower(), []).append(at)
    at = done = 0
    while at < len(found.lines):
        line = found.lines[at]
        end = at + 1
        if match := _HEADLINE.match(line):
            found.paragraphs(done, at)
            found.heading(at, end, len(match[1]), _plain(match[2]))
            done = end
        elif match := _KEYWORD.match(line):
            said.setdefault(match[1].lower(), match[2])
        elif match := _BEGIN.match(line):
            closing = ends.get(match[1].lower(), [])
            following = bisect_right(closing, at)
            if following < len(closing):
                found.paragraphs(done, at)
                end = done = closing[following] + 1
                found.add(at, end, whole=True)
        at = end
    found.paragraphs(done, len(found.lines))
    first = next(runs(found.lines, 0, len(found.lines)), (0, 0))
    opens = found.made[0].path[-1] if found.made and found.made[0].heading and first[0] == 0 else ""
    meta: dict[str, Any] = {}
    if "author" in said:
        meta["author"] = said["author"]
    if "filetags" in said:
        meta["tags"] = [tag for tag in said["filetags"].replace(":", " ").split() if tag]
    return ParsedDocument(
        text.body,
        tuple(found.made),
        title=text.title or said.get("title", "") or opens,
        date=_date(said.get("date")),
        front=text.front,
        meta=meta,
        warnings=text.warnings,
        first_line=text.first_line,
    )


def _date(written: str | None) -> str | None:
    """`<2026-03-01 Sun 09:30>` as ISO 8601."""
    if written is None or not (match := _STAMP.search(written)):
        return written
    return f"{match[1]}T{match[2]:0>5}" if match[2] else match[1]


def _plain(title: str) -> str:
    bare = _LINK.sub(lambda m: m[1] or m[2], title)
    return " ".join(re.sub(r"[~=](\S(?:.*?\S)?)[~=]", r"\1", bare).split())
