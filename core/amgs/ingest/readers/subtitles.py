"""Subtitles and transcripts: WebVTT and SubRip. Turns where cues name who speaks, else running text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from html import unescape

from amgs.ingest.document import ParsedDocument, Passage, UnfitError, Utterance, decoded

_TIMES = re.compile(r"^\s*((?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3})\s*-->\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}")
_VOICE = re.compile(r"<v(?:\.[^\s>]*)?\s+([^>]+)>")
_TAG = re.compile(r"<[^<>]*>|\{\\[^{}]*\}")
_PARAGRAPH = 400
"""Characters after which running text may begin a new paragraph."""


@dataclass(frozen=True, slots=True)
class _Cue:
    at: str
    speaker: str
    text: str
    line: int


def read(raw: bytes) -> ParsedDocument:
    """See `Reader`."""
    text, guess = decoded(raw)
    cues = list(_cues(text))
    if not cues:
        raise UnfitError("it holds no cue with its time")
    warnings = (guess,) if guess else ()
    if any(cue.speaker for cue in cues):
        return ParsedDocument(text, turns=tuple(_turns(cues)), warnings=warnings, meta={"kind": "dialogue"})
    running, passages = "", []
    begin, first = 0, cues[0]
    for cue in cues:
        if len(running) - begin >= _PARAGRAPH and running.rstrip()[-1] in ".!?…。":
            passages.append(Passage(begin, len(running), line=first.line, last=cue.line - 1))
            running += "\n\n"
            begin, first = len(running), cue
        running += (" " if running and len(running) > begin else "") + cue.text
    passages.append(Passage(begin, len(running), line=first.line, last=cues[-1].line))
    return ParsedDocument(running, tuple(passages), warnings=warnings)


def _cues(text: str) -> Iterator[_Cue]:
    lines = text.split("\n")
    starts = [i for i, line in enumerate(lines) if _TIMES.match(line)]
    for n, start in enumerate(starts):
        stop = starts[n + 1] if n + 1 < len(starts) else len(lines)
        body = []
        for line in lines[start + 1 : stop]:
            if not line.strip():
                break
            body.append(line)
        written = " ".join(body)
        voice = _VOICE.search(written)
        said = " ".join(unescape(_TAG.sub(" ", written)).split())
        match = _TIMES.match(lines[start])
        if said and match:
            yield _Cue(match[1].replace(",", "."), voice[1].strip() if voice else "", said, start + 1)


def _turns(cues: list[_Cue]) -> Iterator[Utterance]:
    """What one person says in a row, as one turn with the time of its first cue."""
    group: list[_Cue] = []
    for cue in cues:
        if group and cue.speaker != group[0].speaker:
            yield _turn(group)
            group = []
        group.append(cue)
    yield _turn(group)


def _turn(group: list[_Cue]) -> Utterance:
    return Utterance(group[0].speaker, " ".join(cue.text for cue in group), meta={"time": group[0].at})
