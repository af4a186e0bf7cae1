"""What the grammar tells of messages: who and what is named, whose something is, whom pronouns mean."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from amgs.conversation.coreference.parser import GrammarParser
from amgs.conversation.coreference.passage import Kind, word_set
from amgs.conversation.resolved.names import NamedMention, SpokenPassage, find_names, read_spoken
from amgs.conversation.resolved.patterns import MOST
from amgs.types.conversation import Message
from amgs.types.mentions import MentionType, ResolvedMention

RELATIONSHIP: Mapping[str, float] = {"I": 0.95, "you": 0.9, "we": 0.6, "he or she": 0.9, "named": 0.9}
"""Of a person who is somebody's, by what tells whose; this times how sure it is who is meant by that."""
OBJECT: Mapping[str, float] = {"I": 0.7, "you": 0.6, "we": 0.4, "he or she": 0.7, "named": 0.7}
"""Of anything else: every third time it is nothing that can be spoken of again, as in "my understanding". Counted, and
rounded, on 110 that were read.
"""
CONCEPT = 0.8
"""On 25 that were read."""

NAME = "parser"
_BY_RULES = "rules"
_COMMON = frozenset({"NN", "NNS"})


def find_by_grammar(
    messages: Sequence[Message], wanted: Collection[int], taken: Sequence[ResolvedMention], parser: GrammarParser
) -> tuple[ResolvedMention, ...]:
    """The mentions in the messages of these numbers; the others are read for what came before.

    taken: what is known of them by its shape, within which nothing is a name. Raises ModelError without a parser.
    """
    read = read_spoken(messages, parser)
    if read is None:
        return ()
    known = {(n, i) for one in taken for n in (one.number,) for i in range(one.start, one.end)}
    counts: dict[int, int] = {}
    found = []
    named = tuple(find_names(read))
    people = frozenset(one.start for one in named if one.type == "person")
    for one in (*_names(read, named), *_personal(read, people), *_references(read), *_concepts(read)):
        if one.number not in wanted or counts.get(one.number, 0) >= MOST:
            continue
        if one.kind in ("person", "entity", "concept") and (one.number, one.start) in known:
            continue
        counts[one.number] = counts.get(one.number, 0) + 1
        found.append(one)
    spans = {(one.number, one.start, one.end) for one in found if one.kind in ("person", "personal")}
    return tuple(one for one in found if one.kind != "reference" or (one.number, one.start, one.end) not in spans)


def _names(read: SpokenPassage, named: Sequence[NamedMention]) -> Iterator[ResolvedMention]:
    for one in named:
        yield ResolvedMention(
            read.spoken[one.turn].number,
            read.place(one.start, one.turn),
            read.place(one.end, one.turn),
            read.passage.text[one.start : one.end],
            "person" if one.type == "person" else "entity",
            one.type,
            (bare_name(one.means),),
            one.confidence,
            one.because,
            NAME,
        )


def _personal(read: SpokenPassage, people: Collection[int]) -> Iterator[ResolvedMention]:
    for one in find_personal(read, people):
        yield ResolvedMention(
            read.spoken[one.turn].number,
            read.place(one.start, one.turn),
            read.place(one.end, one.turn),
            read.passage.text[one.start : one.end],
            "personal",
            one.type,
            (one.means,),
            one.confidence,
            f"{one.owner} has it",
            NAME,
        )


def _references(read: SpokenPassage) -> Iterator[ResolvedMention]:
    """Who is meant by pronouns and names; a name that means who bears it tells nothing."""
    mentions = read.passage.mentions
    for one in read.resolutions:
        mention = mentions[one.mention]
        if not one.names or (mention.kind is Kind.NAME and one.names == (mention.text,)):
            continue
        number, start, end = read.span_of(one.mention)
        told = one.antecedent
        if told is not None and mentions[told].kind is Kind.LABEL:
            told = None
        yield ResolvedMention(
            number,
            start,
            end,
            mention.text,
            "reference",
            "person",
            tuple(map(bare_name, one.names)),
            one.confidence,
            one.cue.value,
            _BY_RULES,
            None if told is None else read.span_of(told),
        )


def _concepts(read: SpokenPassage) -> Iterator[ResolvedMention]:
    for start, end, turn, means in _terms(read):
        yield ResolvedMention(
            read.spoken[turn].number,
            read.place(start, turn),
            read.place(end, turn),
            read.passage.text[start:end],
            "concept",
            "concept",
            (means,),
            CONCEPT,
            "a term of several nouns",
            NAME,
        )


def _terms(read: SpokenPassage) -> Iterator[tuple[int, int, int, str]]:
    """(start, end, turn, normal form) of runs of common nouns that belong to the last of them."""
    passage = read.passage
    for number, turn in enumerate(passage.turns):
        at = turn.words.start
        while at < turn.words.stop:
            last = at
            while (
                last + 1 < turn.words.stop
                and passage.words[last].role == "compound"
                and _common(read, last)
                and _common(read, last + 1)
                and passage.words[last + 1].start == passage.words[last].end + 1
            ):
                last += 1
            if last > at:
                words = [passage.words[i].text.lower() for i in range(at, last + 1)]
                if passage.words[last].tag == "NNS":
                    words[-1] = _singular(words[-1])
                yield passage.words[at].start, passage.words[last].end, number, " ".join(words)
            at = last + 1


def _common(read: SpokenPassage, at: int) -> bool:
    word = read.passage.words[at]
    return word.tag in _COMMON and word.text.isalpha() and word.text.islower() and len(word.text) > 2


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word


_RELATIONS = word_set(
    "mother mom mum mommy mama father dad daddy papa parent parents stepmother stepfather sister brother sibling "
    "daughter son child kid kids baby family aunt uncle cousin niece nephew grandmother grandma grandfather grandpa "
    "granddaughter grandson wife husband spouse bride groom widow widower fiancé fiancée girlfriend boyfriend friend "
    "buddy pal mate honey sweetie sweetheart darling dear babe partner roommate neighbour neighbor colleague coworker "
    "teammate classmate boss manager mentor coach teacher student doctor lawyer nurse officer policeman fireman "
    "salesman businessman businesswoman chairman driver singer writer artist player chef actor actress waiter waitress "
    "host hostess hero heroine king queen prince princess duke duchess god goddess wizard witch priest monk nun maid "
    "housewife stewardess patient client customer guest stranger person woman man girl boy lady gentleman lass lad gal "
    "guy chick chap fellow dude bloke ma'am madam sir"
)
_NOTHING = word_set(
    "mind heart head eye hand foot face back body hair skin muscle nail strength soul life way opinion view "
    "thought thinking idea feeling love best favorite favourite own turn fault pleasure thing stuff side time "
    "lot kind part rest day week weekend month year morning evening night name self sense experience interest "
    "point case place end help support advice question answer response reply suggestion choice guess hope "
    "wish luck mood taste style passion goal dream word message share attention journey first number age "
    "birthday pace progress horizon seat moment description dedication precision reputation motivation "
    "ambition imagination appreciation satisfaction energy beauty one someone somebody anyone anybody "
)
"""Heads that are hardly ever a thing that can be spoken of again."""
_NOUNS = ("NN", "NNS")
_JOINS = ("-", "'s", "’s", "'", "’")
_ABSTRACT = ("ness", "ity", "ence", "ance", "ism")
_LONGEST = 6  # words
_POSSESSIVE = re.compile(r"['’]s?$")
_PERSONS = {Kind.I: "I", Kind.WE: "we", Kind.YOU: "you", Kind.PERSON: "he or she", Kind.NAME: "named"}


@dataclass(frozen=True, slots=True)
class PersonalMention:
    """Whose something is, at characters [start, end) of the passage. owner_mention: the number of the mention that
    tells the owner.
    """

    start: int
    end: int
    turn: int
    type: MentionType
    owner: str
    head: str
    confidence: float
    owner_mention: int

    @property
    def means(self) -> str:
        return f"{self.owner}’s {self.head}"


def bare_name(name: str) -> str:
    """A name without the possessive with which it was first said."""
    return _POSSESSIVE.sub("", name)


def find_personal(read: SpokenPassage, people: Collection[int]) -> Iterator[PersonalMention]:
    """What is somebody's, in order; nothing where the owner is not told, or is not to be had.

    people: where the names of people stand; what is a place's or a firm's is nobody's.
    """
    passage = read.passage
    for one in read.resolutions:
        mention = passage.mentions[one.mention]
        if not one.names or mention.word < 0 or mention.kind not in _PERSONS:
            continue
        word = passage.words[mention.word]
        if word.role != "poss" or word.head <= mention.word:
            continue
        head = passage.words[word.head]
        if head.tag not in _NOUNS or word.head - mention.word > _LONGEST or not head.text.isalpha():
            continue
        bare = head.text.lower()
        if bare.endswith(_ABSTRACT) or {bare, bare.removesuffix("s"), bare.removesuffix("es")} & _NOTHING:
            continue
        if mention.kind is Kind.NAME and mention.start not in people:
            continue
        between = passage.words[mention.word + 1 : word.head]
        if not all(w.text.replace("-", "").isalpha() or w.text in _JOINS for w in between):
            continue  # what breaks off, or is a mark of a transcript
        if word.head + 1 < len(passage.words) and passage.words[word.head + 1].tag in _NOUNS:
            continue  # the phrase goes on, whatever the parser says
        beside = [
            w.text.lower()
            for w in between
            if w.head == word.head and w.role == "compound" and w.text.isalpha() and w.end < head.start
        ]
        related = bare in _RELATIONS or bare.removesuffix("s") in _RELATIONS
        names = [bare_name(name) for name in one.names]
        owner = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        sure = (RELATIONSHIP if related else OBJECT)[_PERSONS[mention.kind]] * one.confidence
        yield PersonalMention(
            mention.start,
            head.end,
            mention.turn,
            "personal_relationship" if related else "personal_object",
            owner,
            " ".join([*beside, bare]),
            sure,
            one.mention,
        )
