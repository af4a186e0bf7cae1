"""Resolve mentions to the nearest earlier entity that fits in name, gender and number, each with a confidence.

The result is stored beside the text and never replaces a word of it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from amgs.conversation.coreference.passage import (
    TITLES,
    CorefMention,
    CorefTurn,
    Gender,
    Kind,
    is_first_name,
    name_gender,
    singular,
    word_set,
)

CONFIDENCE: Mapping[str, float] = {
    "speaker": 0.98,
    "inside quotation marks": 0.6,
    "the only other speaker": 0.9,
    "called by name": 0.88,
    "spoke before and speaks next": 0.86,
    "spoke before": 0.5,
    "speaks next": 0.57,
    "speaker and who is spoken to": 0.55,
    "named": 0.91,
    "a short form of the name": 0.9,
    "a name not met before": 0.5,
    "nobody else fits": 0.85,
    "the nearest who fits": 0.38,
    "the nearest thing": 0.25,
    "named more fully before": 0.8,
    "the noun before": 0.8,
    "the place before": 0.8,
    "named together": 0.8,
}
"""How often each cue is right: for people counted over eight episodes of Friends (for "we", multiplied by that of the
addressee), for things judged by hand.
"""
ABSTAINS_BELOW = 0.75
"""Least confidence that is shown by default."""
_REACH, _FAR, _SENTENCES = 40, 400, 3
"""How many mentions back a person, and a thing of that name, is sought; and how many sentences back anything else."""
_CLEAR, _CLOSE = 4, 2
"""A person is a sure antecedent when nearer than all others by _CLEAR sentences, and at most _CLOSE away."""
_SHORTEST = 3  # letters of a short form
_SURELY = ("the only other speaker", "called by name", "spoke before and speaks next")
"""Cues by which a person is addressed for sure, and so is no "he" or "she"."""
_PEOPLE = (Kind.NAME, Kind.PERSON, Kind.LABEL, Kind.YOU, Kind.NOUN, Kind.THE)
_THINGS = (Kind.NAME, Kind.NOUN, Kind.THE, Kind.IT, Kind.ONE)
_PLACES = ("GPE", "LOC", "FAC")
_CLASSES: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("city", "town", "village", "country", "place"), _PLACES),
    **dict.fromkeys(("company", "firm", "organisation", "organization"), ("ORG",)),
    **dict.fromkeys(("book", "film", "movie", "song"), ("WORK_OF_ART",)),
}
"""Nouns that may refer to a name, with the parser's label of such names."""
_QUOTES = ('"', "“", "”", "``", "''")
_ENDS = ("", ",", ".", "!", "?", ";", ":", "-", "--", "…", "...")
GREETINGS = word_set(
    "hey hi hello oh ok okay look listen thanks thank bye goodbye come please god yes yeah no sorry well now so and "
    "but alright right morning you night uh um ah what"
)
_GROUP = ("guys", "everyone", "everybody", "people", "folks", "all", "both", "two", "three")


@dataclass(frozen=True, slots=True)
class Resolution:
    """Whom a mention means. mention: its number. names: () where it cannot be resolved. confidence: in [0, 1].

    antecedent: number of the earlier mention that it refers to; None for none.
    """

    mention: int
    names: tuple[str, ...]
    confidence: float
    cue: str
    antecedent: int | None = None


_Found = tuple[tuple[str, ...], str, float, int | None]
"""(names, cue, factor of the cue's confidence, antecedent)."""


def resolve(
    turns: Sequence[CorefTurn], mentions: Sequence[CorefMention], known: Iterable[str] = ()
) -> tuple[Resolution, ...]:
    """Resolve every mention except labels, in order. known: full names of people who do not speak here."""
    reading = _Reading(turns, mentions, known)
    return tuple(reading.read(number) for number in range(len(mentions)) if mentions[number].kind is not Kind.LABEL)


class _Reading:
    """A pass over the mentions in order. meant: the names that each mention means, by its number, for later ones."""

    def __init__(self, turns: Sequence[CorefTurn], mentions: Sequence[CorefMention], known: Iterable[str]) -> None:
        self.turns, self.mentions = turns, mentions
        self.here = tuple(dict.fromkeys(turn.speaker for turn in turns if turn.speaker))
        self.groups = [list(self.here), [name for name in known if name not in self.here], list[str]()]
        self.meant: dict[int, tuple[str, ...]] = {
            n: (mention.text,) for n, mention in enumerate(mentions) if mention.kind is Kind.LABEL
        }
        self.of_word: dict[tuple[int, int], int] = {(m.turn, m.word): n for n, m in enumerate(mentions) if m.word >= 0}
        self.sure = set[int]()
        self.calls: dict[int, list[tuple[int, str]]] = {}
        for mention in mentions:
            if mention.kind is Kind.NAME and self._calls(mention):
                names, cue = self._identify(mention.text)
                if cue != "a name not met before" and names[0] in self.here and names[0] != turns[mention.turn].speaker:
                    self.calls.setdefault(mention.turn, []).append((mention.start, names[0]))
        self.groups[2].clear()

    def read(self, number: int) -> Resolution:
        """Resolve a mention and record its meaning for later ones."""
        mention = self.mentions[number]
        names, cue, scale, antecedent = self._read(number, mention)
        if names:
            self.meant[number] = names
        elif mention.kind is Kind.THE:
            self.meant[number] = (mention.text.lower(),)  # for what points to it in its turn
        return Resolution(number, names, CONFIDENCE[cue] * scale if names else 0.0, cue, antecedent)

    def _read(self, number: int, mention: CorefMention) -> _Found:
        """Resolve a mention by the rule for its kind."""
        turn = self.turns[mention.turn]
        after = turn.word(mention.word + 1)
        match mention.kind:
            case Kind.I:
                quoted = sum(word.text in _QUOTES for word in turn.words[: mention.word]) % 2
                return self._speaker(turn), "inside quotation marks" if quoted else "speaker", 1.0, None
            case Kind.YOU:
                names, cue = self._addressee(mention)
                several = after in _GROUP or mention.text.lower() in ("yourselves", "y'all")
                return () if several else names, cue, 0.8 if after in ("know", "see") else 1.0, None
            case Kind.WE:
                names, cue = self._addressee(mention)
                both = (*self._speaker(turn), *names) if names and turn.speaker else ()
                return both, "speaker and who is spoken to", CONFIDENCE[cue], None
            case Kind.NAME:
                if mention.gender is Gender.THING:
                    return (mention.text,), "named", 1.0, None
                return *self._identify(mention.text), 1.0, None
            case Kind.NOUN:
                owner = self.meant.get(self.of_word.get((mention.turn, mention.owner), -1), ())
                owned = f"{' and '.join(map(bare_name, owner))}’s {mention.text.lower()}" if owner else mention.text
                anybody = mention.gender is not Gender.THING and not owner
                return () if anybody else (owned,), "named", 1.0, None
            case Kind.PERSON:
                return self._third(number, mention)
        return self._thing(number, mention)

    # --- who is spoken to --------------------------------------------------------------------------------

    def _speaker(self, turn: CorefTurn) -> tuple[str, ...]:
        return (turn.speaker,) if turn.speaker else ()

    def _calls(self, mention: CorefMention) -> bool:
        """Return whether a name addresses somebody: set off at an end of the sentence, or after a greeting."""
        turn = self.turns[mention.turn]
        inside = [i for i, word in enumerate(turn.words) if word.start < mention.end and word.end > mention.start]
        if not inside:
            return False
        before, after = turn.word(inside[0] - 1), turn.word(inside[-1] + 1)
        opens = before in ("", ",", "!", "?", ".", "-", "--") or before in GREETINGS
        return opens and after in _ENDS and (before, after) != ("", "")

    def _addressee(self, mention: CorefMention) -> tuple[tuple[str, ...], str]:
        """Return who is addressed, () where nothing shows it, and the cue."""
        at = mention.turn
        speaker = self.turns[at].speaker
        if called := self.calls.get(at):
            before = [name for start, name in called if start <= mention.start]
            return (before[-1] if before else called[0][1],), "called by name"
        others = [(n, t.speaker) for n, t in self._session(at) if t.speaker not in ("", speaker)]
        earlier = [name for n, name in others if n < at]
        later = [name for n, name in others if n > at]
        if len({*earlier, *later}) == 1:
            return (others[0][1],), "the only other speaker"
        if not earlier:
            return tuple(later[:1]), "speaks next"
        both = later and later[0] == earlier[-1]
        return (earlier[-1],), "spoke before and speaks next" if both else "spoke before"

    def _session(self, at: int) -> list[tuple[int, CorefTurn]]:
        first = last = at
        while first > 0 and self.turns[first - 1].session == self.turns[at].session:
            first -= 1
        while last + 1 < len(self.turns) and self.turns[last + 1].session == self.turns[at].session:
            last += 1
        return list(enumerate(self.turns[first : last + 1], first))

    # --- who bears a name --------------------------------------------------------------------------------

    def _identify(self, text: str) -> tuple[tuple[str, ...], str]:
        """Return whom a name means, and the cue: a speaker, a known person, a person named before, else a new person. A
        name that fits two of them means neither.
        """
        words = [bare_name(word.strip(".,'’\"")).lower() for word in text.split()]
        words = [word for word in words if word[:1].isalpha() and word not in GREETINGS] or [text.lower()]
        for fits, cue in ((_fits, "named"), (_shortens, "a short form of the name")):
            for group in self.groups:
                names = [name for name in group if fits(words, name)]
                if len(names) == 1:
                    return (names[0],), cue
        self.groups[2].append(text)
        return (text,), "a name not met before"

    # --- what stands for another -------------------------------------------------------------------------

    def _third(self, number: int, mention: CorefMention) -> _Found:
        """Resolve "he" or "she" to the nearest, most often named person; sure where only a single name is near."""
        candidates = self._somebody(number, mention)
        often = Counter(map(self.meant.get, (n for n in candidates if self.mentions[n].kind is not Kind.LABEL)))

        def distance(other: int) -> float:
            antecedent, names = self.mentions[other], self.meant.get(other)
            far = (
                min(self._apart(mention, antecedent), 8)
                + 4 * (antecedent.kind is Kind.LABEL)
                + 0.5 * (not self._acts(antecedent))
            )
            return far + 0.5 * (self._gender(other) is Gender.UNKNOWN) - 0.5 * math.log1p(often[names] if names else 1)

        best = min(candidates, key=lambda other: (distance(other), -other), default=None)
        if best is None or best not in self.meant:
            return (), "the nearest who fits", 1.0, None
        rivals = [distance(other) for other in candidates if self.meant.get(other) != self.meant[best]]
        alone = min(rivals, default=math.inf) > distance(best) + _CLEAR
        close = self._apart(mention, self.mentions[best]) <= _CLOSE and self._gender(best) is mention.gender
        if alone and close and (best in self.sure or self.mentions[best].kind in (Kind.NAME, Kind.NOUN)):
            self.sure.add(number)
            return self.meant[best], "nobody else fits", 1.0, best
        return self.meant[best], "the nearest who fits", 1.0, best

    def _somebody(self, number: int, mention: CorefMention) -> list[int]:
        """Return earlier mentions of people who fit: not the speaker, a sure addressee, or the subject of
        the same verb.
        """
        names, cue = self._addressee(mention)
        here = {self.turns[mention.turn].speaker, *(names if cue in _SURELY else ())} - {""}
        return [
            other
            for other in range(max(0, number - _REACH), number)
            if self.mentions[other].kind in _PEOPLE
            and not (self.mentions[other].plural or self.mentions[other].named)
            and self._gender(other) in (mention.gender, Gender.UNKNOWN)
            and not here.intersection(self.meant.get(other, ()))
            and not self._does_it_to(self.mentions[other], mention)
        ]

    def _gender(self, number: int) -> Gender:
        """Return the gender of a mention, or of the person that it means, where its own words show none."""
        own, names = self.mentions[number].gender, self.meant.get(number, ())
        return name_gender(names[0]) if own is Gender.UNKNOWN and names else own

    def _does_it_to(self, actor: CorefMention, mention: CorefMention) -> bool:
        """Return whether they are the subject and the object of a verb: "Tom saw him" is about two people."""
        words = self.turns[mention.turn].words
        if actor.turn != mention.turn or actor.word < 0 or mention.text.lower().endswith("self"):
            return False
        verb = words[mention.word].head
        if words[mention.word].role == "pobj":
            verb = words[verb].head
        return (
            words[mention.word].role in ("dobj", "dative", "pobj")
            and self._acts(actor)
            and words[actor.word].head == verb
        )

    def _acts(self, mention: CorefMention) -> bool:
        return mention.word >= 0 and self.turns[mention.turn].words[mention.word].role in ("nsubj", "nsubjpass")

    def _apart(self, mention: CorefMention, other: CorefMention) -> int:
        """Return the number of sentences between two mentions."""
        later, earlier = (
            words[max(0, side.word)].sentence if (words := self.turns[side.turn].words) else 0
            for side in (mention, other)
        )
        return later - earlier

    def _thing(self, number: int, mention: CorefMention) -> _Found:
        """Resolve "it", "they", "there", "the red one", "the kettle" to what fits in the nearest sentence, its subject
        first.
        """
        if mention.kind is Kind.THE:
            head = singular(mention.text.split()[-1].lower())
            back = range(number - 1, max(-1, number - 1 - _FAR), -1)
            best = next((n for n in back if n in self.meant and self._is_called(n, mention, head)), None)
            return self._as(best, "named more fully before")
        near = []
        for other in range(number - 1, -1, -1):
            if self._apart(mention, self.mentions[other]) > _SENTENCES:
                break
            if other in self.meant:
                near.append(other)
        if mention.kind is Kind.THERE:
            return self._as(next((n for n in near if self._label(n) in _PLACES), None), "the place before")
        if mention.kind is Kind.THEY and (pair := next(filter(None, map(self._pair, near)), None)):
            return pair, "named together", 1.0, None
        nouns = [n for n in near if self.mentions[n].kind in _THINGS and self.mentions[n].gender is Gender.THING]
        if mention.kind is Kind.ONE:
            nouns = [n for n in nouns if self.mentions[n].kind in (Kind.NOUN, Kind.THE)]
        else:
            nouns = [n for n in nouns if self.mentions[n].plural == mention.plural]
        best = min(nouns, key=lambda n: (self._apart(mention, self.mentions[n]), self._rank(n), -n), default=None)
        if best is None or mention.kind is not Kind.ONE:
            return self._as(best, "the nearest thing")
        noun = self.mentions[best].text.split()[-1].lower()
        return (noun if mention.plural else singular(noun),), "the noun before", 1.0, best

    def _as(self, other: int | None, cue: str) -> _Found:
        return () if other is None else self.meant[other], cue, 1.0, other

    def _rank(self, number: int) -> int:
        """Return a sort key of a mention: subjects first, then objects, then others."""
        mention = self.mentions[number]
        role = self.turns[mention.turn].words[mention.word].role if mention.word >= 0 else ""
        return 0 if role.startswith("nsubj") else 1 if role == "dobj" else 2

    def _is_called(self, number: int, mention: CorefMention, head: str) -> bool:
        """Return whether a noun may refer to a mention again, in fewer words."""
        antecedent = self.mentions[number]
        if antecedent.kind is Kind.NAME:
            return antecedent.text.split()[-1].lower() == head or self._label(number) in _CLASSES.get(head, ())
        words, modifiers = (set(text.lower().split()[:-1]) for text in (self.meant[number][0], mention.text))
        same = antecedent.kind in (Kind.NOUN, Kind.THE) and singular(antecedent.text.split()[-1].lower()) == head
        return same and antecedent.plural == mention.plural and words > modifiers

    def _label(self, number: int) -> str:
        mention = self.mentions[number]
        return next((of for start, _, of in self.turns[mention.turn].names if start == mention.start), "")

    def _pair(self, number: int) -> tuple[str, ...]:
        """Return the two people of a pair such as "Anna and Tom"; () for none."""
        mention = self.mentions[number]
        if mention.kind not in (Kind.NAME, Kind.NOUN) or mention.word < 0 or mention.gender is Gender.THING:
            return ()
        word = self.turns[mention.turn].words[mention.word]
        first = self.meant.get(self.of_word.get((mention.turn, word.head), -1), ()) if word.role == "conj" else ()
        return (*first, *self.meant[number]) if first else ()


def bare_name(name: str) -> str:
    """Return a name without a possessive ending."""
    return name.removesuffix("'s").removesuffix("’s").rstrip("'’")


def _fits(words: Sequence[str], name: str) -> bool:
    """Return whether all words of a mention, except a title, are in a name."""
    own = {part.strip(".").lower() for part in name.split()}
    bare_words = [word for word in words if word not in TITLES] or words
    title = TITLES.get(words[0], Gender.UNKNOWN) if len(bare_words) < len(words) else Gender.UNKNOWN
    return own.issuperset(bare_words) and (title is Gender.UNKNOWN or name_gender(name) in (title, Gender.UNKNOWN))


def _shortens(words: Sequence[str], name: str) -> bool:
    """Return whether a single word abbreviates a name's first word: "Rach", "Phoebs"; but "Ann" not "Announcement"."""
    word, first = words[0], name.split()[0].lower()
    if len(words) != 1 or len(word) < _SHORTEST or not is_first_name(first):
        return False
    return first.startswith(word) or (word.endswith("s") and len(word) > _SHORTEST and first.startswith(word[:-1]))
