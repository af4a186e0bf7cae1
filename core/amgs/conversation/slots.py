"""What must not be lost, found word for word: decisions, names, numbers, dates, paths, commands, ids."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Literal, get_args

from amgs.conversation.names import names_of
from amgs.text.intervals.grammar import dates_in
from amgs.text.sentences import sentences

Slot = Literal[
    "sentence", "decision", "question", "commitment", "name", "number", "date", "path", "command", "id"
]
SLOTS: tuple[Slot, ...] = get_args(Slot)

_DECISION = re.compile(
    r"\b(?:(?:we|i)(?:'ve| have)? (?:decided|agreed|chose|chosen|settled)|"
    r"let'?s (?:go with|use|keep|take|stick)\b(?! in)|"
    r"(?:we|i)(?:'ll| will) (?:use|go with|stick (?:with|to))|(?:decision|decided|agreed)\s*:)",
    re.IGNORECASE,
)
_UNDECIDED = re.compile(r"\b(?:if|unless|whether|until|once) (?:we|i|you)\b", re.IGNORECASE)
_UNITS = (
    r"(?:%|°[CF]?|percent\b|[kKMGT]i?B\b|ms\b|s\b|min\b|h\b|km\b|cm\b|mm\b|m\b|kg\b|g\b|px\b|tokens?\b|lines?\b|"
    r"dollars?\b|euros?\b|pounds?\b|seconds?\b|minutes?\b|hours?\b|(?:thousand|[mb]illion)\b)"
)
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)*"
_TENS = r"twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
_ONES = r"one|two|three|four|five|six|seven|eight|nine"
_SPOKEN = (
    rf"(?:(?:{_ONES}|ten|eleven|twelve|\w+teen|{_TENS}|an?)[ -]+)*"
    rf"(?:eleven|twelve|(?:thir|four|fif|six|seven|eigh|nine)teen|{_TENS}|hundred|thousand|[mb]illion)"
    rf"(?:(?:[ -]and)?[ -](?:{_ONES}|ten|{_TENS}|hundred|thousand|[mb]illion|percent))*"
)
_NUMBER = re.compile(
    rf"(?<![\w./:#-])[-+]?(?:[$€£] ?)?(?:{_DIGITS})(?:[-–](?:{_DIGITS}))?"
    rf"(?: ?{_UNITS}|[a-z]{{3,}}\b|k\b)?(?![\w/:]|-\w*\d)"
    rf"|\b{_SPOKEN}\b(?: (?:{_UNITS}))?",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?<![\w:.])(?:[01]?\d|2[0-3])(?::[0-5]\d){1,2}(?: ?[ap]\.?m\b)?(?![\w:])|(?<![\w:.])\d{1,2} ?[ap]m\b",
    re.I,
)
_SUFFIXES = (
    r"py|md|js|jsx|ts|tsx|rs|go|c|h|cc|cpp|hpp|java|kt|rb|php|swift|sh|ps1|bat|json|jsonl|ya?ml|toml|txt|csv|tsv|sql|html?|"
    r"css|scss|lock|cfg|ini|conf|env|log|xml|proto|ipynb|parquet|db|duckdb|pdf|docx?|xlsx?|png|jpe?g|svg|zip|gz|tar|whl"
)
PATH = re.compile(
    r"(?<![\w/:.~@-])(?:(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]*)*|[\w.@+-]+(?:/[\w.@+-]+)+\.\w+|"
    r"[A-Za-z]:\\[\w.@+-]+(?:\\[\w.@+-]+)*|"
    rf"[\w-]+(?:\.[\w-]+)*\.(?:{_SUFFIXES}))(?![\w/\\])(?<![.])"
)
_FRACTION = re.compile(r"/[\d.]*")
_VERSION = re.compile(r"\d+\.\d+\.\d")
"""What looks like a day and is none."""
_RUN = (
    r"(?:git|pip3?|pipx|python3?|node|npm|npx|pnpm|yarn|bun|deno|cargo|rustc|go|make|cmake|docker|podman|kubectl|helm|"
    r"terraform|pytest|mypy|ruff|uv|poetry|apt(?:-get)?|brew|cd|ls|cat|cp|mv|rm|mkdir|chmod|grep|rg|find|sed|awk|tar|curl|"
    r"wget|ssh|scp|rsync|systemctl|psql|sqlite3|sudo|bash|sh|amgs)"
)
COMMAND = re.compile(
    rf"(?m)^[ \t]*[$>] +(\S[^\n]*)|`({_RUN}\b[^`\n]*|[\w./-]+(?: [^`\n]*)? --?\w[^`\n]*)`"
    r"|\"(?:command|cmd|script)\"\s*:\s*\"((?:[^\"\\\n]|\\.)+)\""
    rf"|^[ \t]*({_RUN}(?: [^\n]*)? --?\w[^\n]*)$"
)
_SHELL = re.compile(
    r"(?ms)^[ \t]*(?:```|~~~) *(?:sh|bash|zsh|shell|console|powershell)?[ \t]*\n(.*?)^[ \t]*(?:```|~~~)"
)
_LINE_OF_SHELL = re.compile(rf"(?m)^[ \t]*({_RUN} [^\n]*)$")
_ID = re.compile(
    r"https?://[^\s<>\"'`)\]}]*[\w/=&%#~-]"
    r"|(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|(?<![\w-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-])"
    r"|(?<![\w./-])(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,64}(?![\w-])"
    r"|(?<![\w./-])(?=[A-Z0-9/-]*\d)[A-Z]{1,8}[-_]?\d*(?:[-_][A-Z0-9]{2,})*-?\d[\dA-Z]*(?:-[A-Z0-9]+)*(?![\w-])"
    r"|(?<![\w&/])#\d+\b"
    r"|(?<![\w.])v\d+(?:\.\d+)+\b|(?<![\w.:-])(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?(?![\w.])"
)
_LONGEST = 200_000
"""Characters of a message that are read."""
_UNKNOWN = datetime(2000, 1, 1, tzinfo=UTC)
"""When a message was written that does not say: it changes which day is meant, and not where one is named."""
_LEAST = 0.5
"""Confidence below which a date says hardly more than that time passes ("lately")."""


def slots_in(
    text: str, written: datetime | None = None, names: re.Pattern[str] | None = None
) -> Iterator[tuple[Slot, int, int]]:
    """(slot, start, end) of each finding in a message. names: those of its conversation, see `names_of`."""
    text = text[:_LONGEST]
    for start, end in sentences(text):
        sentence = text[start:end].replace("’", "'")
        if _DECISION.search(sentence) and not _UNDECIDED.search(sentence) and not sentence.endswith("?"):
            yield "decision", start, end
    taken: list[tuple[int, int]] = []
    for found in COMMAND.finditer(text):
        group = found.lastindex or 0
        taken.append(found.span(group))
        yield "command", *found.span(group)
    for block in _SHELL.finditer(text):
        for found in _LINE_OF_SHELL.finditer(text, *block.span(1)):
            if not _overlaps(found, taken):
                taken.append(found.span(1))
                yield "command", *found.span(1)
    within = len(taken)
    for found in _ID.finditer(text):
        taken.append(found.span())
        yield "id", *found.span()
    for found in PATH.finditer(text):
        if not _FRACTION.fullmatch(found[0]) and not _overlaps(found, taken[within:]):
            taken.append(found.span())
            yield "path", *found.span()
    for date in dates_in(text, written or _UNKNOWN):
        sure = date.interval.confidence >= _LEAST and not _VERSION.fullmatch(date.text)
        if sure and not any(a < date.end and date.start < b for a, b in taken[within:]):
            taken.append((date.start, date.end))
            yield "date", date.start, date.end
    patterns: tuple[tuple[Slot, re.Pattern[str]], ...] = (
        ("date", _TIME),
        ("number", _NUMBER),
        ("name", names or names_of([text])),
    )
    for slot, pattern in patterns:
        for found in pattern.finditer(text):
            if not _overlaps(found, taken):
                taken.append(found.span())
                yield slot, *found.span()


def _overlaps(found: re.Match[str], taken: list[tuple[int, int]]) -> bool:
    return any(a < found.end() and found.start() < b for a, b in taken)
