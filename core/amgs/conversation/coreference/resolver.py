"""Resolves the mentions of a passage one after another: who is meant, how surely, and by what cue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from amgs.conversation.coreference.antecedents import RELIABILITY, agree, chances, quoted_words
from amgs.conversation.coreference.passage import CorefMention, CorefPassage, Gender, Kind
from amgs.conversation.coreference.people import (
    Addressee,
    CorefCue,
    People,
    addressees,
    is_call,
    is_endearment,
    is_filler,
    is_group_call,
    subject_of,
    words_beside,
)
from amgs.conversation.coreference.words import kinship

CONFIDENCE: Mapping[CorefCue, float] = {
    CorefCue.SPEAKER: 0.98,
    CorefCue.QUOTED: 0.6,
    CorefCue.ONLY_TWO: 0.91,
    CorefCue.CALLED: 0.89,
    CorefCue.BETWEEN: 0.88,
    CorefCue.BEFORE: 0.58,
    CorefCue.NEXT: 0.78,
    CorefCue.ASKED: 0.56,
    CorefCue.GROUP: 0.34,
    CorefCue.WITH_ADDRESSEE: 0.55,
    CorefCue.JOINED: 0.7,
    CorefCue.NAMED: 0.91,
    CorefCue.NICKNAME: 0.86,
    CorefCue.NEW_NAME: 0.5,
    CorefCue.RELATIVE: 0.2,
    CorefCue.PREDICATE: 0.55,
    CorefCue.NAMED_BESIDE: 0.6,
    CorefCue.ENDEARMENT: 0.67,
    CorefCue.SAME_WORDS: 0.3,
}
"""How often each cue is right: counted over the gold mentions of eight episodes of character-identification (Friends,
development half), rounded; for an antecedent its chance says it, for who is meant by "we" it is multiplied by that of
who is spoken to. What the counts of seven episodes say of the eighth is in `python -m benchmarks conversation`.
"""
ABSTAINS_BELOW = 0.75
"""Least confidence that is told by default: nine in ten answers above it are right on the same episodes."""
_REACH = 40
"""So many mentions back any mention may be the antecedent, further back the last one of each name."""
_SURELY = frozenset({CorefCue.CALLED, CorefCue.BETWEEN, CorefCue.ONLY_TWO})
"""Who is spoken to by these cues is no "he" or "she"."""
_CARRIERS = frozenset({Kind.NAME, Kind.NOUN, Kind.PERSON, Kind.LABEL, Kind.YOU})


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
    """One for each mention but the labels: speakers for I, who is spoken to for you, the likeliest antecedent for the
    rest. known: whole names of people who do not speak here.
    """
    return _Reading(passage, People(passage.speakers, known)).run()


class _Reading:
    """One pass over a passage: `meant` holds what each mention was found to mean."""

    def __init__(self, passage: CorefPassage, people: People) -> None:
        self.passage, self.people = passage, people
        self.meant: dict[int, tuple[str, ...]] = {}
        self.calls = self._calls()
        self.heads = {m.word: number for number, m in enumerate(passage.mentions) if m.word >= 0}
        self.relatives: dict[tuple[str, str], tuple[str, ...]] = {}  # whose, which relative -> who it is

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
                return self._name(number, mention)
            case Kind.NOUN:
                return self._noun(number, mention)
            case Kind.PERSON:
                return self._third(number, mention)
            case Kind.THEY:
                return self._they(number, mention)
            case _:
                return _resolution(number, (), CorefCue.ANTECEDENT)

    def _first(self, number: int, mention: CorefMention) -> Resolution:
        speaker = self.passage.turns[mention.turn].speaker
        names = (speaker,) if speaker else ()
        quoted = mention.word in quoted_words(self.passage, mention.turn)
        return _resolution(number, names, CorefCue.QUOTED if quoted else CorefCue.SPEAKER)

    def _second(self, number: int, mention: CorefMention) -> Resolution:
        to = self._addressees(mention)
        if is_group_call(self.passage, mention):
            return _resolution(number, self._others_near(mention.turn), CorefCue.GROUP)
        scale = 0.8 if is_filler(self.passage, mention) else 1.0
        return _resolution(number, to.names, to.cue, scale)

    def _we(self, number: int, mention: CorefMention) -> Resolution:
        speaker = self.passage.turns[mention.turn].speaker
        for names, turn in self._joined(number):
            if speaker in names and self.passage.turns[turn].speaker == speaker:  # "Ross and I"
                return _resolution(number, names, CorefCue.JOINED)
        to = self._addressees(mention)
        names = tuple(dict.fromkeys(n for n in (speaker, *to.names) if n))
        scale = CONFIDENCE[to.cue]
        return _resolution(number, names if len(names) > 1 else (), CorefCue.WITH_ADDRESSEE, scale)

    def _they(self, number: int, mention: CorefMention) -> Resolution:
        """Two who were joined by "and", or whom the last "they" meant."""
        speaker = self.passage.turns[mention.turn].speaker
        for names, _ in self._joined(number):
            if speaker not in names:
                return _resolution(number, names, CorefCue.JOINED)
        mentions = self.passage.mentions
        before = range(number - 1, max(-1, number - 1 - _FEW), -1)
        last = next((i for i in before if mentions[i].kind is Kind.THEY and i in self.meant), None)
        return _resolution(
            number, self.meant[last] if last is not None else (), CorefCue.JOINED, antecedent=last
        )

    def _joined(self, number: int) -> Iterator[tuple[tuple[str, ...], int]]:
        """Who is joined by "and" in the turns before a mention, the last first, and in which turn."""
        passage, turn = self.passage, self.passage.mentions[number].turn
        for i in range(number - 1, max(-1, number - 1 - _REACH), -1):
            other = passage.mentions[i]
            if other.turn < turn - _NEAR:
                return
            if other.word < 0 or passage.words[other.word].role != "conj":
                continue
            first = self._meant_at(passage.words[other.word].head)
            names = tuple(dict.fromkeys((*first, *self.meant.get(i, ()))))
            if first and len(names) > 1:
                yield names, other.turn

    def _name(self, number: int, mention: CorefMention) -> Resolution:
        relative = kinship(mention.text)
        if relative:  # "Dad called"
            return self._relative(number, mention, self.passage.turns[mention.turn].speaker, relative)
        name, cue = self.people.named(mention.text)
        return _resolution(number, (name,), cue)

    def _relative(self, number: int, mention: CorefMention, whose: str, relative: str) -> Resolution:
        """Somebody's mother: who was called so or named beside it, else somebody without another name."""
        if is_call(self.passage, mention) and whose == self.passage.turns[mention.turn].speaker:
            to = self._addressees(mention)
            if len(to.names) == 1:
                self.relatives.setdefault((whose, relative), to.names)
                return _resolution(number, to.names, CorefCue.ENDEARMENT)
        if not whose:
            return _resolution(number, (), CorefCue.RELATIVE)
        names = self.relatives.get((whose, relative), (f"{whose}'s {relative}",))
        return _resolution(number, names, CorefCue.RELATIVE)

    def _noun(self, number: int, mention: CorefMention) -> Resolution:
        passage = self.passage
        if mention.plural:
            return _resolution(number, (), CorefCue.SAME_WORDS)
        if is_endearment(mention) and is_call(passage, mention):
            return _resolution(number, self._addressees(mention).names, CorefCue.ENDEARMENT)
        owner = self._owner(mention)
        head = passage.words[mention.word].text.lower() if mention.word >= 0 else ""
        beside = self._named_beside(mention)
        if beside:
            if owner and kinship(head):
                self.relatives[owner, kinship(head)] = (beside,)
            return _resolution(number, (beside,), CorefCue.NAMED_BESIDE)
        subject = subject_of(passage, mention)
        if subject is not None:
            names = self._meant_at(subject)
            if names:
                if owner and kinship(head):
                    self.relatives.setdefault((owner, kinship(head)), names)
                return _resolution(number, names, CorefCue.PREDICATE)
        if kinship(head) and (owner or is_call(passage, mention)):
            return self._relative(
                number, mention, owner or passage.turns[mention.turn].speaker, kinship(head)
            )
        same = self._said_before(number, head)
        if same is not None:
            return _resolution(number, self.meant[same], CorefCue.SAME_WORDS, antecedent=same)
        return _resolution(number, (), CorefCue.SAME_WORDS)

    def _third(self, number: int, mention: CorefMention) -> Resolution:
        candidates = self._candidates(number, mention)
        if not candidates:
            return _resolution(number, (), CorefCue.ANTECEDENT)
        likely = chances(self.passage, number, candidates)
        together: dict[tuple[str, ...], float] = {}
        best: dict[tuple[str, ...], tuple[float, int]] = {}
        for candidate, chance in zip(candidates, likely, strict=True):
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
            if other.kind not in _CARRIERS or other.end > mention.start:  # "his" is part of "his brother"
                continue
            if len(names) > 1 or present & set(names) or not agree(mention, self._with_gender(i, other)):
                continue
            reached.add(names)
            found.append(i)
        return found[::-1]

    def _with_gender(self, number: int, mention: CorefMention) -> CorefMention:
        """A mention with the gender of whom it was found to mean, where its own words tell none."""
        if mention.gender is not Gender.UNKNOWN or number not in self.meant:
            return mention
        names = self.meant[number]
        gender = self.people.gender(names[0]) if len(names) == 1 else Gender.UNKNOWN
        return CorefMention(
            mention.start,
            mention.end,
            mention.text,
            mention.kind,
            mention.turn,
            mention.word,
            gender,
            mention.plural,
        )

    def _calls(self) -> Mapping[int, list[tuple[int, str]]]:
        """Calls to people who speak here, by turn."""
        found: dict[int, list[tuple[int, str]]] = {}
        for mention in self.passage.mentions:
            if mention.kind is Kind.NAME and is_call(self.passage, mention):
                name, cue = self.people.named(mention.text)
                speaker = self.passage.turns[mention.turn].speaker
                if cue is not CorefCue.NEW_NAME and name in self.people.here and name != speaker:
                    found.setdefault(mention.turn, []).append((mention.start, name))
        return found

    def _addressees(self, mention: CorefMention) -> Addressee:
        called: Sequence[tuple[int, str]] = self.calls.get(mention.turn, ())
        return addressees(self.passage, called, mention.turn, mention.start)

    def _others_near(self, turn: int) -> tuple[str, ...]:
        """Who else speaks within some turns."""
        speaker = self.passage.turns[turn].speaker
        session = self.passage.session_of(turn)
        near = [self.passage.turns[i] for i in session if abs(i - turn) <= _NEAR]
        return tuple(dict.fromkeys(t.speaker for t in near if t.speaker and t.speaker != speaker))

    def _meant_at(self, word: int) -> tuple[str, ...]:
        """Whom the mention that a word heads was found to mean."""
        return self.meant.get(self.heads.get(word, -1), ())

    def _named_beside(self, mention: CorefMention) -> str:
        """The name by which a noun is told at once, empty where there is none."""
        for word in sorted(words_beside(self.passage, mention)):
            other = self.passage.mentions[self.heads[word]] if word in self.heads else None
            if other is not None and other.kind is Kind.NAME:
                return self.people.named(other.text)[0]
        return ""

    def _owner(self, mention: CorefMention) -> str:
        """Whose relative a noun is: "my sister", "Ross's sister"."""
        passage = self.passage
        for i in passage.turns[mention.turn].words:
            word = passage.words[i]
            if word.role != "poss" or word.head != mention.word:
                continue
            if word.text.lower() == "my":
                return passage.turns[mention.turn].speaker
            if word.text.lower() == "your":
                names = self._addressees(mention).names
                return names[0] if len(names) == 1 else ""
            names = self._meant_at(i)
            return names[0] if len(names) == 1 else ""
        return ""

    def _said_before(self, number: int, head: str) -> int | None:
        """The last earlier noun with this head that was found to mean one person."""
        mentions = self.passage.mentions
        for i in range(number - 1, max(-1, number - 1 - _REACH), -1):
            other = mentions[i]
            if (
                other.kind is Kind.NOUN
                and len(self.meant.get(i, ())) == 1
                and other.word >= 0
                and self.passage.words[other.word].text.lower() == head
            ):
                return i
        return None


_NEAR = 4  # turns
_FEW = 12  # mentions


def _resolution(
    number: int,
    names: tuple[str, ...],
    cue: CorefCue,
    scale: float = 1.0,
    antecedent: int | None = None,
) -> Resolution:
    return Resolution(number, names, CONFIDENCE.get(cue, 0.0) * scale if names else 0.0, cue, antecedent)
