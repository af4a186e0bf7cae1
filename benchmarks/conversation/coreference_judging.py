"""How answers of coreference are judged: gold mentions of Friends by whom they mean, GAP's pronouns by its own F1."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from amgs.conversation.coreference.antecedents import AntecedentScorer
from amgs.conversation.coreference.mentions import given
from amgs.conversation.coreference.pairs import role
from amgs.conversation.coreference.parser import GrammarParser
from amgs.conversation.coreference.passage import CorefMention, CorefPassage, Kind
from amgs.conversation.coreference.resolver import Resolution
from benchmarks.conversation.coreference_data import Episode, GapExample

CLASSES = {
    Kind.I: "I",
    Kind.YOU: "you",
    Kind.WE: "we, they",
    Kind.THEY: "we, they",
    Kind.PERSON: "he, she",
    Kind.IT: "it",
    Kind.NAME: "names",
    Kind.NOUN: "nouns",
}


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


def judge_episode(
    episode: Episode, passage: CorefPassage, found: Iterable[Resolution]
) -> list[JudgedMention]:
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
    if len(names) > 1 or kind in (Kind.WE, Kind.THEY):
        return set(names) == people
    if names[0] in people:
        return True
    if names[0] in speakers:
        return False
    said = {part.strip(".,'’").lower() for part in names[0].split()}
    return any(said <= {part.strip(".").lower() for part in person.split()} for person in people)


def read_episode(episode: Episode, parser: GrammarParser) -> CorefPassage:
    """An episode as a passage with its gold mentions."""
    passage = parser.parse(episode.turns, episode.scenes).passage
    starts = [turn.start for turn in passage.turns]
    return given(passage, {(starts[t] + a, starts[t] + b) for t, a, b in episode.mentions})


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
        cue: (sum(o.right for o in group) + 1)
        / (len(group) + 2)
        / (sum(o.confidence for o in group) / len(group))
        for cue, group in by.items()
    }


@dataclass(frozen=True, slots=True)
class F1:
    """Of names said to be meant, in percent; precision, recall and their harmonic mean."""

    precision: float
    recall: float
    f1: float


def gap_f1(examples: Sequence[GapExample], said: Sequence[tuple[bool, bool]]) -> F1:
    """As GAP's own scorer counts it: every name is a question of its own."""
    pairs = [
        (p, r)
        for one, answer in zip(examples, said, strict=True)
        for p, r in zip(answer, one.right, strict=True)
    ]
    hits = sum(p and r for p, r in pairs)
    precision = hits / max(1, sum(p for p, _ in pairs))
    recall = hits / max(1, sum(r for _, r in pairs))
    f1 = 2 * precision * recall / (precision + recall) if hits else 0.0
    return F1(100 * precision, 100 * recall, 100 * f1)


@dataclass(frozen=True, slots=True)
class GapPassage:
    """An example as a passage with its three mentions by their numbers."""

    passage: CorefPassage
    pronoun: int
    names: tuple[int, int]


def read_gap_passage(example: GapExample, parser: GrammarParser) -> GapPassage:
    """The example with its pronoun and names as mentions."""
    passage = given(parser.parse([("", example.text)]).passage, {example.pronoun, *example.names})
    at = {(m.start, m.end): number for number, m in enumerate(passage.mentions)}
    first, second = example.names
    return GapPassage(passage, at[example.pronoun], (at[first], at[second]))


def by_scorer(one: GapPassage, scorer: AntecedentScorer) -> tuple[bool, bool]:
    """The likelier of the two names, neither where that is likeliest."""
    a, b = map(float, scorer.probabilities(one.passage, one.pronoun, one.names))
    if max(a, b) < 1.0 - a - b:
        return False, False
    return a >= b, b > a


def by_parallelism(one: GapPassage) -> tuple[bool, bool]:
    """The nearest name in the pronoun's own place in its clause, subject or object; else the nearest by grammar (a
    sentence costs as much as ten steps between words).
    """
    passage = one.passage
    pronoun, names = passage.mentions[one.pronoun], [passage.mentions[n] for n in one.names]
    place = role(passage, pronoun)
    alike = [n for n in range(2) if place < 2 and role(passage, names[n]) == place]
    if alike:
        best = min(alike, key=lambda n: abs(names[n].start - pronoun.start))
    else:
        best = min(
            range(2), key=lambda n: (_steps(passage, names[n], pronoun), abs(names[n].start - pronoun.start))
        )
    return best == 0, best == 1


def by_distance(one: GapPassage) -> tuple[bool, bool]:
    """The name that was said last before the pronoun, else the next one."""
    pronoun = one.passage.mentions[one.pronoun]
    apart = [pronoun.start - one.passage.mentions[n].start for n in one.names]
    best = min(range(2), key=lambda n: (apart[n] < 0, abs(apart[n])))
    return best == 0, best == 1


def _steps(passage: CorefPassage, one: CorefMention, other: CorefMention) -> int:
    """Steps between two words through the trees of their sentences."""
    ups = [_up(passage, m.word) for m in (one, other)]
    shared = set(ups[0]) & set(ups[1])
    if shared:
        return min(ups[0].index(w) + ups[1].index(w) for w in shared)
    apart = abs(passage.words[one.word].sentence - passage.words[other.word].sentence)
    return 10 * apart + len(ups[0]) + len(ups[1])


def _up(passage: CorefPassage, word: int) -> list[int]:
    path = [word]
    while passage.words[path[-1]].head != path[-1]:
        path.append(passage.words[path[-1]].head)
    return path
