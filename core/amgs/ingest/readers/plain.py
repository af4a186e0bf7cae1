"""Text without markup: its headings are told by how they stand (`text_headings`)."""

from __future__ import annotations

from amgs.ingest.document import ParsedDocument
from amgs.ingest.readers.front import opened
from amgs.ingest.readers.line_ranges import PassageList, runs
from amgs.ingest.readers.text_headings import headings


def read(raw: bytes) -> ParsedDocument:
    """See `Reader`."""
    text = opened(raw)
    found = PassageList(text.body)
    done = 0
    for heading in headings(found.lines):
        found.paragraphs(done, heading.first)
        found.heading(heading.first, heading.end, heading.level, heading.title, alone=heading.alone)
        done = heading.end
    found.paragraphs(done, len(found.lines))
    title = text.title or _title(found)
    return ParsedDocument(
        text.body,
        tuple(found.made),
        title=title,
        front=text.front,
        warnings=text.warnings,
        first_line=text.first_line,
    )


_LONGEST_TITLE = 80


def _title(found: PassageList) -> str:
    """The heading that opens the text, else a short first line that stands alone and ends like no sentence."""
    if found.made and found.made[0].heading:
        return found.made[0].path[-1]
    first = next(runs(found.lines, 0, len(found.lines)), (0, 0))
    line = found.lines[first[0]].strip() if first[1] - first[0] == 1 and len(found.made) > 1 else ""
    named = any(c.isalpha() for c in line) and line[-1] not in ".,;:!?…。" and line[0] not in "-*>|#/<["
    return line if named and len(line) <= _LONGEST_TITLE else ""
