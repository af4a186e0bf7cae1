"""The block of `key: value` lines between two `---` at the top of a note, and what of it cannot be read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

_EDGE = re.compile(r"^---[ \t]*$")
_KEY = re.compile(r"^([^\W\d_][\w .-]{0,60}?)\s*:(?:\s+(.*)|(\S.*)|)$")
_MOST_LINES = 400
_MOST_TOLD = 80


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """values by key in lower case: texts, lists, and what is nested. unread: lines that are not understood."""

    values: Mapping[str, Any]
    unread: tuple[str, ...] = ()


NONE = FrontMatter({})


def read(text: str) -> tuple[FrontMatter, str]:
    """Return the front matter and the body after it. One that never closes is body."""
    lines = text.split("\n")
    if not _EDGE.match(lines[0]):
        return NONE, text
    end = next((i for i, line in enumerate(lines[1:_MOST_LINES], 1) if _EDGE.match(line)), None)
    if end is None:
        return NONE, text
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
