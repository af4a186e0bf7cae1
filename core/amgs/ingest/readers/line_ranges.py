"""Passages of a text by ranges of lines, and its front matter (`key: value` lines between two `---` at the
top), with what of it cannot be read; shared by the readers of Markdown, plain text and code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amgs.ingest.document import Outline, Passage, decode, unify_line_ends

_EDGE = re.compile(r"^---[ \t]*$")
_KEY = re.compile(r"^([^\W\d_][\w .-]{0,60}?)\s*:(?:\s+(.*)|(\S.*)|)$")
_MOST_LINES = 400
_MOST_TOLD = 80


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """values by key in lower case: texts, lists, and what is nested. unread: lines that are not understood."""

    values: Mapping[str, Any]
    unread: tuple[str, ...] = ()


NO_FRONT_MATTER = FrontMatter({})


def read_front_matter(text: str) -> tuple[FrontMatter, str]:
    """Return the front matter and the body after it. One that never closes is body."""
    lines = text.split("\n")
    if not _EDGE.match(lines[0]):
        return NO_FRONT_MATTER, text
    end = next((i for i, line in enumerate(lines[1:_MOST_LINES], 1) if _EDGE.match(line)), None)
    if end is None:
        return NO_FRONT_MATTER, text
    values: dict[str, Any] = {}
    unread: list[str] = []
    for key, first, more in _entries(lines[1:end], unread):
        try:
            values[key] = _value(first) if not more else _read_nested(first, more)
        except _UnreadableError:
            values[key] = _value(first)
            unread += [line for line in more if line.strip()]
    excerpts = tuple(line.strip()[:_MOST_TOLD] for line in unread)
    return FrontMatter(values, excerpts), "\n".join(lines[end + 1 :])


class _UnreadableError(Exception):
    """A value of several lines that is no YAML."""


def _entries(lines: list[str], unread: list[str]) -> list[tuple[str, str, list[str]]]:
    """Return (key, rest of its line, lines that belong to it); what belongs to no key goes to `unread`."""
    entries: list[tuple[str, str, list[str]]] = []
    for line in lines:
        match = _KEY.match(line)
        if match:
            entries.append((match[1].lower(), (match[2] or match[3] or "").strip(), []))
        elif entries and (not line.strip() or line[0] in " \t-"):
            entries[-1][2].append(line)
        elif not line.lstrip().startswith("#") and line.strip():
            unread.append(line)
    return [
        (key, first, more if any(continuation.strip() for continuation in more) else []) for key, first, more in entries
    ]


def _value(text: str) -> str | list[str]:
    if text.startswith("[") and text.endswith("]") and not text.startswith("[["):
        return [item for item in map(_bare, text[1:-1].split(",")) if item]
    return _bare(text)


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _read_nested(first: str, lines: list[str]) -> Any:
    """Return a value of several lines: a list of `- item`, or YAML of any depth, its scalars as texts."""
    items = [line.strip() for line in lines if line.strip()]
    if all(item.startswith("- ") for item in items) and not any(_KEY.match(item[2:].strip()) for item in items):
        return [_bare(item[2:]) for item in items]
    import yaml  # late: most notes have no nested value

    try:
        return yaml.load("\n".join([f"key: {first}", *lines]), Loader=_texts())["key"]
    except (yaml.YAMLError, RecursionError, ValueError, TypeError, KeyError) as error:
        raise _UnreadableError from error


def _texts() -> Any:
    """Return a YAML loader that makes texts, lists and mappings and nothing else, and follows no alias."""
    import yaml

    class Texts(yaml.BaseLoader):  # type: ignore[misc] # it comes without types
        def compose_node(self, parent: Any, index: Any) -> Any:
            if self.check_event(yaml.events.AliasEvent):
                raise yaml.YAMLError("an alias")
            return super().compose_node(parent, index)

    return Texts


@dataclass
class PassageList:
    """Passages of a text, added as ranges of its lines, under the current path of headings."""

    text: str
    outline: Outline = field(default_factory=Outline)
    items: list[Passage] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = self.text.split("\n")
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line) + 1)

    def add(self, first: int, end: int, *, whole: bool = False) -> None:
        """Add lines [first, end) as a single passage without surrounding blank lines; nothing if all are blank.

        whole: if too long, it is split between lines, not sentences.
        """
        self._add(first, end, lines=whole)

    def heading(self, first: int, end: int, level: int, title: str, *, alone: bool = True) -> None:
        """Add lines [first, end) as a heading of what follows. alone: they contain no other text."""
        self.outline.enter(level, title)
        self._add(first, end, level=level, heading=alone)

    def section(self, first: int, end: int, level: int, title: str) -> None:
        """Add lines [first, end) as a section in a single passage."""
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
            self.items.append(Passage(*span, self.outline.path, level, heading, lines))


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
        """The title in the front matter; "" if there is none."""
        title = self.front.get("title")
        return " ".join(title.split()) if isinstance(title, str) else ""


def split_front_matter(raw: bytes | str) -> BodyText:
    """Decode a file's bytes, or take a text, and split off its front matter. Raises UnfitError if it is not text."""
    text, guess = decode(raw) if isinstance(raw, bytes) else (unify_line_ends(raw), "")
    matter, body = read_front_matter(text)
    warnings = [guess] if guess else []
    warnings += [f"its front matter has a line that is not `key: value`: {line}" for line in matter.unread]
    first = text.count("\n") - body.count("\n") + 1
    return BodyText(body, matter.values, first, tuple(warnings))
