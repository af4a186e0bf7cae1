"""The layout in which coreference is annotated in character-identification (Friends)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amgs.errors import InputError

FRIENDS = "character-identification-*.json"


@dataclass(frozen=True, slots=True)
class Episode:
    """A conversation in scenes: (speaker, text) a turn, the first speaker where several speak at once, with the scene
    that each is of; and mentions, (turn, start, end), with the people they are said to mean.
    """

    name: str
    turns: tuple[tuple[str, str], ...]
    scenes: tuple[int, ...]
    mentions: tuple[tuple[int, int, int], ...]
    people: tuple[frozenset[str], ...]


def read_friends(path: Path) -> list[Episode]:
    """The episodes of a file of character-identification; raises InputError for another layout."""
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        return [_episode(one) for one in given["episodes"]]
    except (OSError, ValueError, KeyError, TypeError, IndexError) as error:
        raise InputError(f"{path} cannot be read as annotated episodes: {error!r}.") from error


def _episode(given: dict[str, Any]) -> Episode:
    turns: list[tuple[str, str]] = []
    scenes: list[int] = []
    mentions: list[tuple[int, int, int]] = []
    people: list[frozenset[str]] = []
    for scene, said in ((n, u) for n, s in enumerate(given["scenes"]) for u in s["utterances"]):
        text, starts = _text(said["transcript"], said["tokens"])
        for number, annotated in enumerate(said["character_entities"]):
            for first, after, *who in annotated:
                last = said["tokens"][number][after - 1]
                mentions.append((len(turns), starts[number][first], starts[number][after - 1] + len(last)))
                people.append(frozenset(who))
        turns.append((said["speakers"][0] if said["speakers"] else "", text))
        scenes.append(scene)
    return Episode(given["episode_id"], tuple(turns), tuple(scenes), tuple(mentions), tuple(people))


def _text(transcript: str, sentences: Sequence[Sequence[str]]) -> tuple[str, list[list[int]]]:
    """The text that tokens are of and where each starts; the tokens with blanks where they are not of it."""
    starts, at = [], 0
    for sentence in sentences:
        row = []
        for token in sentence:
            found = transcript.find(token, at)
            if found < 0 or found > at + _GAP:
                return _spaced(sentences)
            row.append(found)
            at = found + len(token)
        starts.append(row)
    return transcript, starts


_GAP = 30  # characters between two tokens of a transcript, at most


def _spaced(sentences: Sequence[Sequence[str]]) -> tuple[str, list[list[int]]]:
    starts, parts, at = [], [], 0
    for sentence in sentences:
        row = []
        for token in sentence:
            row.append(at)
            parts.append(token)
            at += len(token) + 1
        starts.append(row)
    return " ".join(parts), starts


def folder_of(data: Path) -> Path:
    """Where the files lie: `coref` in the folder that is given, or the folder itself."""
    inside = data / "coref"
    return inside if inside.is_dir() else data
