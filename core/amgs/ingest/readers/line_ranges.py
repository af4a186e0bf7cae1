"""Passages of a text by ranges of lines, and its front matter; shared by the readers of Markdown, plain
text and code.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amgs.ingest.document import Outline, Passage, decode, unify_line_ends
from amgs.text import front_matter


@dataclass
class PassageList:
    """Passages of a text, added as ranges of its lines, under the current path of headings."""

    text: str
    outline: Outline = field(default_factory=Outline)
    made: list[Passage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = self.text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def add(self, first: int, end: int, *, whole: bool = False) -> None:
        """Add lines [first, end) as one passage without surrounding blank lines; nothing if all are blank.

        whole: if too long, it is split between lines, not sentences.
        """
        self._add(first, end, lines=whole)

    def heading(self, first: int, end: int, level: int, title: str, *, alone: bool = True) -> None:
        """Add lines [first, end) as a heading of what follows. alone: they contain no other text."""
        self.outline.enter(level, title)
        self._add(first, end, level=level, heading=alone)

    def section(self, first: int, end: int, level: int, title: str) -> None:
        """Add lines [first, end) as a section in one passage."""
        self.outline.enter(level, title)
        self._add(first, end, level=level, lines=True)

    def paragraphs(self, first: int, end: int) -> None:
        """Add each paragraph in lines [first, end) as a passage."""
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
    """Yield [first, end) of each run of lines that are not blank."""
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
    """A text without its front matter. first_line: line of the file at which the body begins."""

    body: str
    front: Mapping[str, Any]
    first_line: int
    warnings: tuple[str, ...]

    @property
    def title(self) -> str:
        """The title in the front matter; "" without one."""
        title = self.front.get("title")
        return " ".join(title.split()) if isinstance(title, str) else ""


def split_front_matter(raw: bytes | str) -> BodyText:
    """Decode a file's bytes, or take a text, and split off its front matter. Raises UnfitError if it is not text."""
    text, guess = decode(raw) if isinstance(raw, bytes) else (unify_line_ends(raw), "")
    matter, body = front_matter.read(text)
    warnings = [guess] if guess else []
    warnings += [f"its front matter has a line that is not `key: value`: {line}" for line in matter.unread]
    first = text.count("\n") - body.count("\n") + 1
    return BodyText(body, matter.values, first, tuple(warnings))
