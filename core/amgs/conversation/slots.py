"""What an agent's history must not lose, found word for word: decisions, names, numbers, dates, paths, commands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Literal

from amgs.conversation.sentences import sentences
from amgs.text.intervals.grammar import dates_in

Slot = Literal["sentence", "decision", "question", "name", "number", "date", "path", "command"]
SLOTS: tuple[Slot, ...] = (
    "sentence",
    "decision",
    "question",
    "name",
    "number",
    "date",
    "path",
    "command",
)

_DECISION = re.compile(
    r"\b(?:(?:we|i)(?:'ve| have)? (?:decided|agreed|chose|chosen|settled)|let'?s (?:go with|use|keep|take|stick)|"
    r"(?:we|i)(?:'ll| will) (?:use|go with|keep|stick)|(?:decision|decided|agreed)\s*:)",
    re.IGNORECASE,
)
_NUMBER = re.compile(
    r"(?<![\w./:#-])[-+]?[$€£]?\d[\d,]*(?:\.\d+)?(?:\s?(?:%|°C?|[kMG]?B|ms|s|min|h|km|m|kg|g|px|tokens?|lines?)(?!\w))?"
    r"(?![\w/:])"
)
_PATH = re.compile(
    r"(?<![\w/:.~-])(?:(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]*)*|[\w.@+-]+(?:/[\w.@+-]+)+\.\w+|[\w-]+\.(?:py|md|js|ts|"
    r"tsx|rs|go|c|h|cpp|java|rb|sh|json|ya?ml|toml|txt|csv|sql|html|css|lock|cfg|ini|log))(?![\w/])"
)
_COMMAND = re.compile(
    r"(?m)^[ \t]*\$ +(\S[^\n]*)|`((?:git|pip3?|python3?|npm|npx|yarn|cargo|go|make|docker|kubectl|pytest|uv|apt|brew|"
    r"cd|ls|cat|grep|sed|curl|ssh|amgs)\b[^`\n]*)`"
)
_NAME = re.compile(
    r"(?<![.!?:] )(?<!^)(?<!\n)\b(?!I\b|I')[A-Z][\w'’-]*[a-z][\w-]*(?: (?:of |de |van )?[A-Z][\w-]*[a-z][\w-]*)*"
)
_LONGEST = 200_000
"""Characters of a message that are read."""


def slots_in(text: str, written: datetime | None) -> Iterator[tuple[Slot, int, int]]:
    """(slot, start, end) of each finding in a message. written: when, without which no date can be told."""
    text = text[:_LONGEST]
    for start, end in sentences(text):
        if _DECISION.search(text[start:end].replace("’", "'")):
            yield "decision", start, end
    taken: list[tuple[int, int]] = []
    for found in _COMMAND.finditer(text):
        group = 1 if found[1] is not None else 2
        taken.append(found.span(group))
        yield "command", *found.span(group)
    for found in _PATH.finditer(text):
        taken.append(found.span())
        yield "path", *found.span()
    if written is not None:
        for date in dates_in(text, written):
            taken.append((date.start, date.end))
            yield "date", date.start, date.end
    for slot, pattern in _PATTERNS:
        for found in pattern.finditer(text):
            if not any(a < found.end() and found.start() < b for a, b in taken):
                yield slot, *found.span()


_PATTERNS: tuple[tuple[Slot, re.Pattern[str]], ...] = (("number", _NUMBER), ("name", _NAME))
