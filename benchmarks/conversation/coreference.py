"""Who is meant: gold mentions in episodes of Friends, beside rules that anybody would try first.

The names of everybody who speaks in the file are known. Strict: several people are right only if they are exactly the
annotated ones.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from amgs.conversation.coreference.parser import GrammarParser
from amgs.conversation.coreference.passage import CorefPassage, Kind
from amgs.conversation.coreference.resolver import resolve
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult
from benchmarks.conversation.coreference_judging import (
    CLASSES,
    FRIENDS,
    Episode,
    JudgedMention,
    accuracy,
    calibrated_elsewhere,
    calibration_error,
    folder_of,
    is_right,
    judge_episode,
    precision_at,
    read_episode,
    read_friends,
)

GOALS: dict[str, tuple[Comparator, float]] = {"friends_accuracy": (">=", 75.0), "friends_precision_60": (">=", 90.0)}
_COVERAGES = (0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


def measure_coreference(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """The subject "coreference" of a folder with coref/; None where Friends is not in it."""
    return measured(folder_of(data), rig.seed)


def measured(folder: Path, seed: int) -> SubjectResult | None:
    """What is in a folder."""
    episodes = [episode for path in sorted(folder.glob(FRIENDS)) for episode in read_friends(path)]
    if not episodes:
        return None
    parser = GrammarParser()
    read = [(one, read_episode(one, parser)) for one in episodes]
    known = sorted({speaker for one in episodes for speaker, _ in one.turns if speaker})
    shipped = [j for one, passage in read for j in judge_episode(one, passage, resolve(passage, known))]
    ways = {
        "rules": shipped,
        "simple rules": _simple(read, known, own_names=False, we=False),
        "simple rules, names as they stand, we": _simple(read, known, own_names=True, we=True),
        "somebody of the scene": _random(read, seed),
        "shuffled annotation": _shuffled(read, shipped, seed),
    }
    columns = tuple(dict.fromkeys(CLASSES.values()))
    by_class = BenchTable(
        f"Friends, {len(shipped):,} pronouns and names in {len(episodes)} episodes: right, %",
        ("", "all", *(f"{c} ({sum(j.kind == c for j in shipped)})" for c in columns)),
        tuple(
            (name, accuracy(judged), *(accuracy([j for j in judged if j.kind == c]) for c in columns))
            for name, judged in ways.items()
        ),
    )
    sure = BenchTable(
        "Friends: precision of the most confident, %",
        ("share answered", *(f"{c:.0%}" for c in _COVERAGES), "calibration error"),
        tuple(
            (name, *(precision_at(judged, c) for c in _COVERAGES), calibration_error(judged))
            for name, judged in (
                ("rules", shipped),
                ("confidence fitted on the other episodes", calibrated_elsewhere(shipped)),
                ("confidence shuffled", _confidence_shuffled(shipped, seed)),
            )
        ),
    )
    gold = sum(len(one.mentions) for one in episodes)  # nouns, "they" and "it" too, of which nothing is said
    metrics = {
        "friends_accuracy": 100.0 * sum(one.right for one in shipped) / gold,
        "friends_accuracy_of_resolved": accuracy(shipped),
        "friends_precision_60": precision_at(shipped, 0.6),
        "friends_simple_rules": accuracy(ways["simple rules"]),
    }
    return SubjectResult(metrics, GOALS, (by_class, sure, _cues(shipped), _misses(shipped, seed)))


_Read = Sequence[tuple[Episode, CorefPassage]]


def _simple(read: _Read, known: Sequence[str], *, own_names: bool, we: bool) -> list[JudgedMention]:
    """I is who speaks, you the last other speaker, he and she the last name said; a name is the one who bears it.

    own_names: a name that nobody bears is a person of its own; we: who speaks and the last other speaker.
    """
    first = {name.split()[0].lower(): name for name in reversed(known)}
    judged: list[JudgedMention] = []
    for episode, passage in read:
        gold = _gold(episode, passage)
        last: tuple[str, ...] = ()
        for number, mention in enumerate(passage.mentions):
            if mention.kind is Kind.LABEL:
                continue
            speaker = passage.turns[mention.turn].speaker
            earlier = [passage.turns[i].speaker for i in passage.session_of(mention.turn) if i < mention.turn]
            other = next(((s,) for s in reversed(earlier) if s not in ("", speaker)), ())
            names: tuple[str, ...] = ()
            match mention.kind:
                case Kind.I:
                    names = (speaker,)
                case Kind.YOU:
                    names = other
                case Kind.WE if we and other:
                    names = (speaker, *other)
                case Kind.PERSON:
                    names = last
                case Kind.NAME:
                    bearer = first.get(mention.text.split()[0].lower(), mention.text if own_names else "")
                    names = last = (bearer,) if bearer else ()
                case _:
                    names = ()
            right = is_right(names, gold[number], passage.speakers, mention.kind)
            judged.append(_judged(episode, passage, number, names, gold[number], right))
    return judged


def _random(read: _Read, seed: int) -> list[JudgedMention]:
    """Anybody who speaks in the session, drawn anew for each mention."""
    drawn, judged = random.Random(seed), []
    for episode, passage in read:
        gold = _gold(episode, passage)
        for number, mention in enumerate(passage.mentions):
            if mention.kind is not Kind.LABEL:
                here = {passage.turns[i].speaker for i in passage.session_of(mention.turn)} - {""}
                names = (drawn.choice(sorted(here)),) if here else ()
                right = is_right(names, gold[number], passage.speakers, mention.kind)
                judged.append(_judged(episode, passage, number, names, gold[number], right))
    return judged


def _shuffled(read: _Read, shipped: Sequence[JudgedMention], seed: int) -> list[JudgedMention]:
    """The answers against annotation that was shuffled among the mentions of a class in an episode."""
    drawn = random.Random(seed)
    speakers = {episode.name: passage.speakers for episode, passage in read}
    groups: dict[tuple[str, str], list[JudgedMention]] = defaultdict(list)
    for one in shipped:
        groups[one.group, one.kind].append(one)
    judged = []
    for (episode, kind), group in groups.items():
        gold = [one.gold for one in group]
        drawn.shuffle(gold)
        of = next(k for k, name in CLASSES.items() if name == kind)
        judged += [
            replace(one, gold=people, right=is_right(one.said, people, speakers[episode], of))
            for one, people in zip(group, gold, strict=True)
        ]
    return judged


def _confidence_shuffled(shipped: Sequence[JudgedMention], seed: int) -> list[JudgedMention]:
    confidences = [one.confidence for one in shipped]
    random.Random(seed).shuffle(confidences)
    return [replace(one, confidence=c) for one, c in zip(shipped, confidences, strict=True)]


def _gold(episode: Episode, passage: CorefPassage) -> dict[int, frozenset[str]]:
    spans = dict(zip(episode.mentions, episode.people, strict=True))
    return {
        number: spans[m.turn, m.start - passage.turns[m.turn].start, m.end - passage.turns[m.turn].start]
        for number, m in enumerate(passage.mentions)
        if m.kind is not Kind.LABEL
    }


def _judged(
    episode: Episode, passage: CorefPassage, number: int, names: tuple[str, ...], gold: frozenset[str], right: bool
) -> JudgedMention:
    mention = passage.mentions[number]
    return JudgedMention(episode.name, CLASSES[mention.kind], mention.text, "", right, 0.0, "", names, gold)


def _cues(judged: Sequence[JudgedMention]) -> BenchTable:
    groups: dict[tuple[str, str], list[JudgedMention]] = defaultdict(list)
    for one in judged:
        if one.said:
            groups[one.kind, one.cue].append(one)
    rows = [
        (kind, cue, str(len(group)), accuracy(group), 100 * sum(o.confidence for o in group) / len(group))
        for (kind, cue), group in sorted(groups.items(), key=lambda g: -len(g[1]))
    ]
    return BenchTable("Friends: by what", ("mention", "cue", "answers", "right, %", "mean confidence, %"), tuple(rows))


def _misses(judged: Sequence[JudgedMention], seed: int) -> BenchTable:
    """Some that were wrong with the most confidence, and some at random."""
    wrong = [one for one in judged if not one.right and one.said]
    sure = sorted(wrong, key=lambda one: -one.confidence)[:6]
    drawn = random.Random(seed).sample(wrong, min(6, len(wrong)))
    rows = [
        (one.text, one.context, ", ".join(one.said), ", ".join(sorted(one.gold)), one.cue) for one in (*sure, *drawn)
    ]
    return BenchTable("Friends: misses", ("mention", "around it", "said", "annotated", "cue"), tuple(rows))
