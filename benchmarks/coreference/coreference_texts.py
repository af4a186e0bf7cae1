"""Texts in which mentions are annotated with whom they mean: LitBank in brat's format, OntoGUM's columns."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

_BRAT = re.compile(r"^T\d+\t(?P<who>\S*-\d+) (?P<start>\d+) (?P<end>\d+)\t", re.MULTILINE)
_BRACKET = re.compile(r"\((?P<alone>\d+)\)|\((?P<opens>\d+)|(?P<closes>\d+)\)")


@dataclass(frozen=True, slots=True)
class AnnotatedText:
    """A text with its mentions: spans of characters, each with the number of whom or what it means."""

    name: str
    text: str
    mentions: tuple[tuple[int, int, str], ...]


def read_litbank(folder: Path, longest: int) -> list[AnnotatedText]:
    """The works of a folder, so many characters of each."""
    found = []
    for path in sorted(folder.glob("*_brat.ann")):
        text = path.with_suffix(".txt").read_text(encoding="utf-8")[:longest]
        marks = _BRAT.finditer(path.read_text(encoding="utf-8"))
        spans = {(int(m["start"]), int(m["end"]), m["who"]) for m in marks}
        found.append(AnnotatedText(path.stem, text, tuple(sorted(s for s in spans if s[1] <= len(text)))))
    return found


def read_gum(folder: Path, longest: int) -> list[AnnotatedText]:
    """The documents of a folder, so many words of each."""
    return [_gum(path, longest) for path in sorted(folder.glob("*.conll"))]


def _gum(path: Path, longest: int) -> AnnotatedText:
    words: list[str] = []
    at, mentions = 0, []
    open_at: dict[str, list[int]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if len(cells) < 3 or not cells[0].isdigit():
            continue
        if len(words) == longest:
            break
        end = at + len(cells[1])
        for mark in _BRACKET.finditer(cells[-1]):
            if mark["alone"]:
                mentions.append((at, end, mark["alone"]))
            elif mark["opens"]:
                open_at.setdefault(mark["opens"], []).append(at)
            elif open_at.get(mark["closes"]):
                mentions.append((open_at[mark["closes"]].pop(), end, mark["closes"]))
        words.append(cells[1])
        at = end + 1
    return AnnotatedText(path.stem, " ".join(words), tuple(sorted(mentions)))
