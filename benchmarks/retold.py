"""Sentences of foreign documents told again a year later: with another value, with the same one, or of another thing.

Only the first says anything against its origin. Words are exchanged and the sentence gets another opening or a tail,
so that neither the words alone nor the number alone tells the three apart.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Literal

from amgs.ingest.raw_blocks import RawBlock
from amgs.text.prose import statements

RETOLD = "retold"
Telling = Literal["changed", "same", "other"]

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_NUMBER = re.compile(r"(?<![\w.,:/#%-])(?:\d{1,3}(?:,\d{3})+|\d{1,3}(?:\.\d)?|[3-9]\d{3})(?![\w,:/-]|\.\d)")
_NAME = re.compile(r"[A-Z][\w'’-]+(?: (?:of |the )?[A-Z][\w'’-]+)*")
_WORDS = range(8, 31)
_LATER = timedelta(days=400)

_OTHERWISE = (
    ("located", "situated"),
    ("about", "roughly"),
    ("approximately", "around"),
    ("built", "constructed"),
    ("people", "persons"),
    ("has", "counts"),
    ("large", "big"),
    ("many", "numerous"),
    ("began", "started"),
    ("near", "close to"),
    ("also", "too"),
    ("includes", "comprises"),
    ("most", "the bulk"),
    ("released", "published"),
)
_FRAMES = (
    "{s}.",
    "Checked again this spring: {s}.",
    "The latest report has it that {s}.",
    "{s}, says the new edition.",
    "By today's count {s}.",
    "I looked it up and wrote it down: {s}.",
)


@dataclass(frozen=True, slots=True)
class RetoldSentence:
    """A note that tells a sentence of another block again. origin: the source of that block."""

    draft: RawBlock
    origin: str
    telling: Telling


def retold(drafts: Iterable[RawBlock], seed: int, many: int = 24) -> list[RetoldSentence]:
    """Up to `many` sentences with a name and one value, each of another file, told again in the three ways in turn."""
    draw = random.Random(seed)
    found = [(one, s) for one in drafts for s in _fit(one.content)]
    draw.shuffle(found)
    files: dict[str, tuple[RawBlock, str]] = {}
    for one, sentence in found:
        files.setdefault(str(one.meta.get("source", "")).partition("#")[0], (one, sentence))
    chosen = list(files.values())[:many]
    names = [_names(sentence)[-1] for _, sentence in chosen]
    made = []
    for n, (one, sentence) in enumerate(chosen):
        telling: Telling = ("changed", "same", "other")[n % 3]
        told = _told(sentence, telling, names[(n + 1) % len(names)], draw)
        at = None if one.created_at is None else one.created_at + _LATER
        note = RawBlock(told, at, {"source": f"{RETOLD}/{n}-{telling}.md"})
        made.append(RetoldSentence(note, str(one.meta.get("source", "")), telling))
    return made


def _fit(content: str) -> Sequence[str]:
    return [
        s
        for s in (" ".join(part.split()) for part in _SENTENCE.split(statements(content)))
        if len(s.split()) in _WORDS and s[0].isupper() and s[-1] == "." and ":" not in s
        if len(_NUMBER.findall(s)) == 1 and len(re.findall(r"\d+", _NUMBER.sub("", s))) == 0 and _names(s)
    ]


def _names(sentence: str) -> list[str]:
    """Runs of capitals, the longest last; a single word that opens the sentence is none."""
    return sorted((m[0] for m in _NAME.finditer(sentence) if m.start() or " " in m[0]), key=len)


def _told(sentence: str, telling: Telling, other: str, draw: random.Random) -> str:
    said = sentence[:-1]
    if telling == "other":
        said = said.replace(_names(sentence)[-1], other)
    if telling != "same":
        said = _NUMBER.sub(lambda m: _changed(m[0], draw), said)
    for word, another in _OTHERWISE:
        said = re.sub(rf"\b{word}\b", another, said)
    frame = draw.choice(_FRAMES)
    if not frame.startswith("{s}") and said.startswith(("The ", "It ", "In ", "A ")):
        said = said[0].lower() + said[1:]
    return frame.format(s=said)


def _changed(number: str, draw: random.Random) -> str:
    """Another number of the same look, a tenth to a half more."""
    value = float(number.replace(",", ""))
    more = value * draw.uniform(1.1, 1.5) + 1
    return f"{more:.1f}" if "." in number else f"{round(more):,}" if "," in number else str(round(more))
