"""Resolves the mentions of a passage one after another: who is meant, how surely, and by what cue."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from amgs.conversation.coreference.passage import CorefMention, CorefPassage, Gender, Kind, name_gender
from amgs.conversation.coreference.people import (
    RELIABILITY,
    Addressee,
    CorefCue,
    People,
    addressees,
    agree,
    chances,
    is_call,
    is_filler,
    is_group_call,
    quoted_words,
)

CONFIDENCE: Mapping[CorefCue, float] = {
    CorefCue.SPEAKER: 0.98,
    CorefCue.QUOTED: 0.6,
    CorefCue.ONLY_TWO: 0.91,
    CorefCue.CALLED: 0.89,
    CorefCue.BETWEEN: 0.88,
    CorefCue.BEFORE: 0.58,
    CorefCue.NEXT: 0.78,
    CorefCue.ASKED: 0.56,
    CorefCue.WITH_ADDRESSEE: 0.55,
    CorefCue.NAMED: 0.91,
    CorefCue.NICKNAME: 0.86,
    CorefCue.NEW_NAME: 0.5,
}
"""How often each cue is right: counted over the gold mentions of eight episodes of character-identification (Friends,
development half), rounded; for an antecedent its chance says it, for who is meant by "we" it is multiplied by that of
who is spoken to. What the counts of seven episodes say of the eighth is in `python -m benchmarks conversation`.
"""
ABSTAINS_BELOW = 0.75
"""Least confidence that is told by default: nine in ten answers above it are right on the same episodes."""
_REACH = 40
"""So many mentions back any mention may be the antecedent, further back the last one of each name."""
_FILLER = 0.8
"""What "you" in "you know" is worth beside another."""
_SURELY = frozenset({CorefCue.CALLED, CorefCue.BETWEEN, CorefCue.ONLY_TWO})
"""Who is spoken to by these cues is no "he" or "she"."""
_CARRIERS = frozenset({Kind.NAME, Kind.PERSON, Kind.LABEL, Kind.YOU})


@dataclass(frozen=True, slots=True)
class Resolution:
    """Whom a mention means. mention: its number in the passage; names: empty where nothing tells; confidence in
    [0, 1]; antecedent: the mention that it was found by, where there is one.
    """

    mention: int
    names: tuple[str, ...]
    confidence: float
    cue: CorefCue
    antecedent: int | None = None


def resolve(passage: CorefPassage, known: Iterable[str] = ()) -> tuple[Resolution, ...]:
    """One for each mention but the labels: speakers for I, who is spoken to for you, the likeliest antecedent for he
    and she. known: whole names of people who do not speak here.
    """
    return _Reading(passage, People(passage.speakers, known)).run()


class _Reading:
    """One pass over a passage: `meant` holds what each mention was found to mean."""

    def __init__(self, passage: CorefPassage, people: People) -> None:
        self.passage, self.people = passage, people
        self.meant: dict[int, tuple[str, ...]] = {}
        self.calls = self._calls()

    def run(self) -> tuple[Resolution, ...]:
        found = []
        for number, mention in enumerate(self.passage.mentions):
            if mention.kind is Kind.LABEL:
                self.meant[number] = (mention.text,)
                continue
            one = self._one(number, mention)
            if one.names:
                self.meant[number] = one.names
            found.append(one)
        return tuple(found)

    def _one(self, number: int, mention: CorefMention) -> Resolution:
        match mention.kind:
            case Kind.I:
                return self._first(number, mention)
            case Kind.YOU:
                return self._second(number, mention)
            case Kind.WE:
                return self._we(number, mention)
            case Kind.NAME:
                name, cue = self.people.identify(mention.text)
                return _resolution(number, (name,), cue)
            case _:
                return self._third(number, mention)

    def _first(self, number: int, mention: CorefMention) -> Resolution:
        speaker = self.passage.turns[mention.turn].speaker
        names = (speaker,) if speaker else ()
        quoted = mention.word in quoted_words(self.passage, mention.turn)
        return _resolution(number, names, CorefCue.QUOTED if quoted else CorefCue.SPEAKER)

    def _second(self, number: int, mention: CorefMention) -> Resolution:
        to = self._addressees(mention)
        names = () if is_group_call(self.passage, mention) else to.names
        return _resolution(number, names, to.cue, _FILLER if is_filler(self.passage, mention) else 1.0)

    def _we(self, number: int, mention: CorefMention) -> Resolution:
        to = self._addressees(mention)
        speaker = self.passage.turns[mention.turn].speaker
        names = (speaker, *to.names) if speaker and to.names else ()
        return _resolution(number, names, CorefCue.WITH_ADDRESSEE, CONFIDENCE[to.cue])

    def _third(self, number: int, mention: CorefMention) -> Resolution:
        candidates = self._candidates(number, mention)
        together: dict[tuple[str, ...], float] = {}
        best: dict[tuple[str, ...], tuple[float, int]] = {}
        for candidate, chance in zip(candidates, chances(self.passage, number, candidates), strict=True):
            names = self.meant.get(candidate, ())
            if not names:  # somebody without a name
                continue
            together[names] = together.get(names, 0.0) + chance
            best[names] = max(best.get(names, (0.0, candidate)), (chance, candidate))
        if not together:
            return _resolution(number, (), CorefCue.ANTECEDENT)
        names = max(together, key=lambda n: together[n])
        confidence = min(1.0, together[names]) * RELIABILITY
        return Resolution(number, names, confidence, CorefCue.ANTECEDENT, best[names][1])

    def _candidates(self, number: int, mention: CorefMention) -> list[int]:
        """What a pronoun may mean: the last mentions, and the last one of everybody named before; not who speaks and
        who is surely spoken to.
        """
        mentions = self.passage.mentions
        to = self._addressees(mention)
        present = {self.passage.turns[mention.turn].speaker, *(to.names if to.cue in _SURELY else ())} - {""}
        found, reached = [], set()
        for i in range(number - 1, -1, -1):
            other, names = mentions[i], self.meant.get(i, ())
            if number - i > _REACH and (not names or names in reached):
                continue
            if other.kind not in _CARRIERS or present & set(names) or not agree(mention.gender, self._gender(i)):
                continue
            reached.add(names)
            found.append(i)
        return found[::-1]

    def _gender(self, number: int) -> Gender:
        """The gender of a mention, or of whom it was found to mean, where its own words tell none."""
        own, names = self.passage.mentions[number].gender, self.meant.get(number, ())
        return name_gender(names[0]) if own is Gender.UNKNOWN and names else own

    def _calls(self) -> Mapping[int, list[tuple[int, str]]]:
        """Calls to people who speak here, by turn."""
        found: dict[int, list[tuple[int, str]]] = {}
        for mention in self.passage.mentions:
            if mention.kind is Kind.NAME and is_call(self.passage, mention):
                name, cue = self.people.identify(mention.text)
                speaker = self.passage.turns[mention.turn].speaker
                if cue is not CorefCue.NEW_NAME and name in self.people.here and name != speaker:
                    found.setdefault(mention.turn, []).append((mention.start, name))
        return found

    def _addressees(self, mention: CorefMention) -> Addressee:
        called: Sequence[tuple[int, str]] = self.calls.get(mention.turn, ())
        return addressees(self.passage, called, mention.turn, mention.start)


def _resolution(number: int, names: tuple[str, ...], cue: CorefCue, scale: float = 1.0) -> Resolution:
    return Resolution(number, names, CONFIDENCE.get(cue, 0.0) * scale if names else 0.0, cue)
