"""Who is meant: gold mentions in episodes of Friends, beside rules that anybody would try first.

The names of everybody who speaks in the file are known. Strict: several people are right only if they are exactly the
annotated ones.
"""

from __future__ import annotations

import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from amgs.conversation.coreference.passage import CorefMention, CorefTurn, GrammarParser, Kind, place_mentions
from amgs.conversation.coreference.resolver import ABSTAINS_BELOW, resolve
from amgs.errors import InputError
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult

GOALS: dict[str, tuple[Comparator, float]] = {"friends_accuracy": (">=", 74.0), "friends_told_person": (">=", 80.0)}
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


def _folder_of(data: Path) -> Path:
    """Where the files lie: `coref` in the folder that is given, or the folder itself."""
    inside = data / "coref"
    return inside if inside.is_dir() else data


CLASSES = {Kind.I: "I", Kind.YOU: "you", Kind.WE: "we", Kind.PERSON: "he, she", Kind.NAME: "names"}


@dataclass(frozen=True, slots=True)
class _Read:
    """An episode with its gold mentions that are pronouns or names of people, and whom each means."""

    turns: tuple[CorefTurn, ...]
    mentions: tuple[CorefMention, ...]
    gold: Mapping[int, frozenset[str]]

    @classmethod
    def of(cls, episode: Episode, parser: GrammarParser) -> _Read:
        turns = parser.parse(episode.turns, episode.scenes)
        people = dict(zip(episode.mentions, episode.people, strict=True))
        placed = place_mentions(turns, episode.mentions)
        kept = tuple(one for one in placed if one.kind in CLASSES or one.kind is Kind.LABEL)
        return cls(turns, kept, {n: people[m.turn, m.start, m.end] for n, m in enumerate(kept) if m.kind in CLASSES})


_Answers = list[tuple[str, bool, float]]
"""Of each mention its class, whether the answer is right, and how sure it was."""


def measure_coreference(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """The subject "coreference" of a folder with coref/; None where Friends is not in it."""
    return measured(_folder_of(data), rig.seed)


def measured(folder: Path, seed: int) -> SubjectResult | None:
    """What is in a folder."""
    episodes = [episode for path in sorted(folder.glob(FRIENDS)) for episode in read_friends(path)]
    if not episodes:
        return None
    parser = GrammarParser()
    read = [_Read.of(one, parser) for one in episodes]
    known = sorted({speaker for one in episodes for speaker, _ in one.turns if speaker})
    found = [
        {one.mention: (one.names, one.confidence) for one in resolve(each.turns, each.mentions, known)} for each in read
    ]
    shipped = [one for each, said in zip(read, found, strict=True) for one in _judge(each, said, each.gold)]
    simple = [one for each in read for one in _judge(each, _simple(each, known), each.gold)]
    drawn = random.Random(seed)
    shuffled = [
        one for each, said in zip(read, found, strict=True) for one in _judge(each, said, _shuffle(each, drawn))
    ]
    classes = tuple(CLASSES.values())
    table = BenchTable(
        f"Friends, {len(shipped):,} pronouns and names in {len(episodes)} episodes: right, %",
        ("", "all", *(f"{kind} ({sum(k == kind for k, _, _ in shipped)})" for kind in classes)),
        tuple(
            (name, _share(answers), *(_share([one for one in answers if one[0] == kind]) for kind in classes))
            for name, answers in (
                ("rules", shipped),
                ("rules, of what is told", [one for one in shipped if one[2] >= ABSTAINS_BELOW]),
                ("speaker, last other speaker, last name", simple),
                ("shuffled annotation", shuffled),
            )
        ),
    )
    told = [one for one in shipped if one[2] >= ABSTAINS_BELOW and one[0] == CLASSES[Kind.PERSON]]
    metrics = {
        "friends_accuracy": _share(shipped),
        "friends_told_person": _share(told),
        "friends_told_person_count": float(len(told)),
        "friends_simple_rules": _share(simple),
    }
    return SubjectResult(metrics, GOALS, (table,))


def _judge(
    read: _Read, said: Mapping[int, tuple[tuple[str, ...], float]], gold: Mapping[int, frozenset[str]]
) -> _Answers:
    speakers = {turn.speaker for turn in read.turns}
    judged = []
    for number, people in gold.items():
        names, sure = said.get(number, ((), 0.0))
        kind = read.mentions[number].kind
        judged.append((CLASSES[kind], is_right(names, people, sorted(speakers), kind), sure))
    return judged


def _simple(read: _Read, known: Sequence[str]) -> dict[int, tuple[tuple[str, ...], float]]:
    """I is who speaks, you the last other speaker, we both, he and she the last name said; a name is who bears it."""
    first = {name.split()[0].lower(): name for name in reversed(known)}
    last: tuple[str, ...] = ()
    found = {}
    for number in read.gold:
        mention = read.mentions[number]
        here = read.turns[mention.turn]
        earlier = [turn.speaker for turn in read.turns[: mention.turn] if turn.session == here.session]
        other = next(((name,) for name in reversed(earlier) if name not in ("", here.speaker)), ())
        if mention.kind is Kind.NAME:
            last = (first.get(mention.text.split()[0].lower(), mention.text),)
        of_kind = {Kind.I: (here.speaker,), Kind.YOU: other, Kind.WE: (here.speaker, *other)}
        found[number] = of_kind.get(mention.kind, last), 0.0
    return found


def _shuffle(read: _Read, drawn: random.Random) -> dict[int, frozenset[str]]:
    """The annotation shuffled among the mentions of a class."""
    groups: dict[Kind, list[int]] = defaultdict(list)
    for number in read.gold:
        groups[read.mentions[number].kind].append(number)
    made: dict[int, frozenset[str]] = {}
    for group in groups.values():
        people = [read.gold[number] for number in group]
        drawn.shuffle(people)
        made.update(zip(group, people, strict=True))
    return made


def is_right(names: Sequence[str], people: frozenset[str], speakers: Sequence[str], kind: Kind) -> bool:
    """Whether an answer counts: one name that is one of the annotated people, or a part of the name of one who does not
    speak here; several only if they are exactly the annotated ones.
    """
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


def _share(answers: Sequence[tuple[str, bool, float]]) -> float:
    return 100.0 * sum(right for _, right, _ in answers) / len(answers) if answers else float("nan")
