"""Questions over paragraphs with what supports the answer: sentences of HotpotQA, paragraphs of MuSiQue."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amgs.errors import InputError
from amgs.ingest.raw_blocks import RawBlock


@dataclass(frozen=True, slots=True)
class PruningUnit:
    """Characters [start, end) of a paragraph's content that are kept or left out as one."""

    paragraph: int
    start: int
    end: int
    supports: bool


@dataclass(frozen=True, slots=True)
class PruningQuestion:
    """A question with its paragraphs, `Title`, an empty line and the text, and the units of these in order."""

    text: str
    paragraphs: tuple[RawBlock, ...]
    units: tuple[PruningUnit, ...]
    answer: str = ""


def read(folder: Path, name: str) -> tuple[PruningQuestion, ...]:
    """The questions of `multihop/NAME.json`; none where it is not there. Raises InputError for another layout."""
    path = folder / "multihop" / f"{name}.json"
    if not path.exists():
        return ()
    reader = {"hotpotqa": _hotpotqa, "musique": _musique}[name]
    try:
        return tuple(reader(one) for one in json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} cannot be read as questions with paragraphs: {error!r}.") from error


def _hotpotqa(given: Mapping[str, Any]) -> PruningQuestion:
    wanted = {(str(title), int(place)) for title, place in given["supporting_facts"]}
    paragraphs, units = [], list[PruningUnit]()
    for number, (title, sentences) in enumerate(given["context"]):
        paragraphs.append(_paragraph(str(title), "".join(sentences)))
        at = len(title) + 2
        for place, sentence in enumerate(sentences):
            if sentence.strip():
                units.append(PruningUnit(number, at, at + len(sentence), (str(title), place) in wanted))
            at += len(sentence)
    return PruningQuestion(
        str(given["question"]), tuple(paragraphs), tuple(units), str(given.get("answer", ""))
    )


def _musique(given: Mapping[str, Any]) -> PruningQuestion:
    paragraphs, units = [], []
    for number, one in enumerate(given["paragraphs"]):
        paragraph = _paragraph(str(one["title"]), str(one["paragraph_text"]))
        paragraphs.append(paragraph)
        start = len(str(one["title"])) + 2
        units.append(PruningUnit(number, start, len(paragraph.content), bool(one["is_supporting"])))
    return PruningQuestion(
        str(given["question"]), tuple(paragraphs), tuple(units), str(given.get("answer", ""))
    )


def _paragraph(title: str, text: str) -> RawBlock:
    return RawBlock(f"{title}\n\n{text}", meta={"source": title, "title": title})
