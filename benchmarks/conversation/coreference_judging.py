"""How answers of coreference are judged: gold mentions of Friends by whom they mean.

The layout in which coreference is annotated in character-identification (Friends).
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from amgs.conversation.coreference.parser import GrammarParser, place_mentions
from amgs.conversation.coreference.passage import CorefPassage, Kind
from amgs.conversation.coreference.resolver import Resolution
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


CLASSES = {Kind.I: "I", Kind.YOU: "you", Kind.WE: "we", Kind.PERSON: "he, she", Kind.NAME: "names"}


@dataclass(frozen=True, slots=True)
class JudgedMention:
    """A gold mention and what was said of it. group: episode or text it is of; cue: what an answer rests on."""

    group: str
    kind: str
    text: str
    context: str
    right: bool
    confidence: float
    cue: str
    said: tuple[str, ...]
    gold: frozenset[str]


def judge_episode(episode: Episode, passage: CorefPassage, found: Iterable[Resolution]) -> list[JudgedMention]:
    """Gold mentions beside what was resolved.

    One name is right if it is one of the annotated people, or a part of the name of one who does not speak here.
    Several are right only if they are exactly the annotated ones.
    """
    gold = dict(zip(episode.mentions, episode.people, strict=True))
    judged = []
    for one in found:
        mention = passage.mentions[one.mention]
        offset = passage.turns[mention.turn].start
        people = gold[mention.turn, mention.start - offset, mention.end - offset]
        judged.append(
            JudgedMention(
                episode.name,
                CLASSES[mention.kind],
                mention.text,
                passage.text[max(0, mention.start - 50) : mention.end + 40].replace("\n", " / "),
                is_right(one.names, people, passage.speakers, mention.kind),
                one.confidence,
                one.cue.value,
                one.names,
                people,
            )
        )
    return judged


def is_right(names: Sequence[str], people: frozenset[str], speakers: Sequence[str], kind: Kind) -> bool:
    """Whether an answer counts; see `judge_episode`."""
    if not names:
        return False
    if len(names) > 1 or kind is Kind.WE:
        return set(names) == people
    if names[0] in people:
        return True
    if names[0] in speakers:
        return False
    said = {part.strip(".,'’").lower() for part in names[0].split()}
    return any(said <= {part.strip(".").lower() for part in person.split()} for person in people)


def read_episode(episode: Episode, parser: GrammarParser) -> CorefPassage:
    """An episode as a passage with its gold mentions that are pronouns or names."""
    passage = parser.parse(episode.turns, episode.scenes).passage
    starts = [turn.start for turn in passage.turns]
    return place_mentions(passage, {(starts[t] + a, starts[t] + b) for t, a, b in episode.mentions})


def accuracy(judged: Sequence[JudgedMention]) -> float:
    """Right answers of all mentions, in percent."""
    return 100.0 * sum(one.right for one in judged) / len(judged) if judged else float("nan")


def precision_at(judged: Sequence[JudgedMention], coverage: float) -> float:
    """Right answers among the most confident, a share `coverage` of all mentions, in percent; ties count by their
    mean.
    """
    wanted = round(coverage * len(judged))
    by = defaultdict(list)
    for one in judged:
        by[round(one.confidence, 6)].append(one.right)
    taken, right = 0, 0.0
    for confidence in sorted(by, reverse=True):
        group = by[confidence]
        count = min(len(group), wanted - taken)
        right += count * sum(group) / len(group)
        taken += count
    return 100.0 * right / wanted if wanted else float("nan")


def calibration_error(judged: Sequence[JudgedMention]) -> float:
    """The mean distance of confidence and share of right answers over ten bins, weighted by size, in percent; of
    answers alone.
    """
    bins: dict[int, list[JudgedMention]] = defaultdict(list)
    for one in judged:
        if one.said:
            bins[min(9, int(10 * one.confidence))].append(one)
    answers = sum(map(len, bins.values()))
    return sum(
        abs(100 * sum(o.confidence for o in group) / len(group) - accuracy(group)) * len(group) / answers
        for group in bins.values()
    )


def calibrated_elsewhere(judged: Sequence[JudgedMention]) -> list[JudgedMention]:
    """The same answers with confidences scaled so that each cue is as often right as it says in all other groups."""
    found = []
    for group in sorted({one.group for one in judged}):
        scale = cue_scales([one for one in judged if one.group != group])
        found += [
            replace(one, confidence=min(1.0, one.confidence * scale.get(one.cue, 1.0)))
            for one in judged
            if one.group == group
        ]
    return found


def cue_scales(judged: Sequence[JudgedMention]) -> dict[str, float]:
    """Right answers of each cue for what was promised, with one right and one wrong answer more."""
    by: dict[str, list[JudgedMention]] = defaultdict(list)
    for one in judged:
        if one.said:
            by[one.cue].append(one)
    return {
        cue: (sum(o.right for o in group) + 1) / (len(group) + 2) / (sum(o.confidence for o in group) / len(group))
        for cue, group in by.items()
    }
