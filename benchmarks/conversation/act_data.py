"""Sentences that ask and that do not: of MRDA by its annotators, of chats and meetings by their question marks."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from amgs.conversation.acts import question_words
from amgs.errors import InputError
from amgs.text.sentences import sentences

_SESSION = re.compile(r"session_\d+")
_ASKED = re.compile(r"\?[?!]*[\"'”’)\]]*$")


@dataclass(frozen=True, slots=True)
class AskedSentence:
    """A sentence as it was written, and whether it asks."""

    text: str
    asks: bool


def read_utterances(path: Path) -> list[AskedSentence]:
    """The utterances of a file of MRDA, `speaker|text|general act|…` a line; Q is a question."""
    rows = [line.split("|") for line in path.read_text(encoding="utf-8").splitlines()]
    if any(len(row) < 3 for row in rows):
        raise InputError(
            f"{path} holds no dialogue acts of MRDA.", way_out="A line there is speaker|text|act|…."
        )
    return [AskedSentence(row[1], row[2] == "Q") for row in rows]


def read_chats(folder: Path) -> list[AskedSentence]:
    """The sentences of conversations in LoCoMo's layout, by their marks."""
    return list(_marked(text for path in sorted(folder.glob("*.json")) for text in _turns(path)))


def read_meetings(path: Path) -> list[AskedSentence]:
    """The sentences of QMSum's meetings, by their marks."""
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return list(_marked(turn["content"] for row in rows for turn in row["meeting_transcripts"]))


def unmarked(one: AskedSentence) -> str:
    """Its words alone."""
    return " ".join(question_words(one.text))


def _turns(path: Path) -> Iterator[str]:
    for name, value in json.loads(path.read_bytes()).items():
        if _SESSION.fullmatch(name) and isinstance(value, list):
            yield from (str(turn.get("text") or "") for turn in value)


def _marked(texts: Iterable[str]) -> Iterator[AskedSentence]:
    for text in texts:
        for start, end in sentences(text):
            if question_words(text[start:end]):
                yield AskedSentence(text[start:end], _ASKED.search(text[start:end]) is not None)
