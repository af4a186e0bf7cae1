"""Passages of plain text, line by line, and the front matter that may begin it: what the readers of Markdown,
plain text and code share.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amgs.ingest.document import Outline, Passage, decode, unify_line_ends
from amgs.text import front_matter


@dataclass
class PassageList:
    """Passages of a text, given as ranges of its lines; the path of headings is kept beside."""

    text: str
    outline: Outline = field(default_factory=Outline)
    made: list[Passage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = self.text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def add(self, first: int, end: int, *, whole: bool = False) -> None:
        """Lines [first, end) as one passage, without blank ones around it; nothing where all are blank."""
        self._add(first, end, lines=whole)

    def heading(self, first: int, end: int, level: int, title: str, *, alone: bool = True) -> None:
        """Lines [first, end) as a heading: what follows stands under it. alone: they hold no other text."""
        self.outline.enter(level, title)
        self._add(first, end, level=level, heading=alone)

    def section(self, first: int, end: int, level: int, title: str) -> None:
        """Lines [first, end) as a section of its own, in one passage."""
        self.outline.enter(level, title)
        self._add(first, end, level=level, lines=True)

    def paragraphs(self, first: int, end: int) -> None:
        """Lines [first, end) as a passage for each paragraph."""
        for start, stop in runs(self.lines, first, end):
            self.add(start, stop)

    def _add(self, first: int, end: int, *, level: int = 0, heading: bool = False, lines: bool = False) -> None:
        while first < end and not self.lines[first].strip():
            first += 1
        while first < end and not self.lines[end - 1].strip():
            end -= 1
        if first < end:
            span = self.starts[first], self.starts[end] - 1
            self.made.append(Passage(*span, self.outline.path, level, heading, lines))


def runs(lines: Sequence[str], first: int, end: int) -> Iterator[tuple[int, int]]:
    """[first, end) of each run of lines that are not blank."""
    start = None
    for i in range(first, end):
        if lines[i].strip():
            start = i if start is None else start
        elif start is not None:
            yield start, i
            start = None
    if start is not None:
        yield start, end


@dataclass(frozen=True, slots=True)
class BodyText:
    """A text behind its front matter. first_line: the line of the file at which it begins. title: what front says."""

    body: str
    front: Mapping[str, Any]
    first_line: int
    warnings: tuple[str, ...]

    @property
    def title(self) -> str:
        title = self.front.get("title")
        return " ".join(title.split()) if isinstance(title, str) else ""


def opened(raw: bytes | str) -> BodyText:
    """Return a file's bytes, or a text, without its front matter. Raises UnfitError for what is no text."""
    text, guess = decode(raw) if isinstance(raw, bytes) else (unify_line_ends(raw), "")
    matter, body = front_matter.read(text)
    warnings = [guess] if guess else []
    warnings += [f"its front matter has a line that is not `key: value`: {line}" for line in matter.unread]
    first = text.count("\n") - body.count("\n") + 1
    return BodyText(body, matter.values, first, tuple(warnings))
