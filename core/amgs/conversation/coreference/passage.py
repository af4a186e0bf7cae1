"""Parse turns of a conversation with spaCy, and find the mentions in them: pronouns, names and nouns, each with the
gender and number that the words show. `resolver` then decides whom each means.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache
from importlib import resources
from typing import Any

from amgs.text.entities import missing_model, open_pipeline


def word_set(words: str) -> frozenset[str]:
    """Return the words in a text separated by spaces."""
    return frozenset(words.split())


class Kind(StrEnum):
    """Form of a mention.

    PERSON: he, she and their forms. NOUN: a common noun; THE: a noun that points back, as in 'the kettle'. ONE: a noun
    left out, as in 'the red one'. LABEL: the speaker's name before a turn.
    """

    I = "i"  # noqa: E741
    YOU = "you"
    WE = "we"
    PERSON = "person"
    IT = "it"
    THEY = "they"
    THERE = "there"
    ONE = "one"
    THE = "the"
    NOUN = "noun"
    NAME = "name"
    LABEL = "label"


class Gender(StrEnum):
    """Gender of who or what is meant, as far as the words show. UNKNOWN: a person of either."""

    FEMALE = "female"
    MALE = "male"
    THING = "thing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CorefWord:
    """A word with its grammar. start, end: characters of its turn. tag: of the Penn Treebank. role: its dependency on
    the word `head` of the turn. sentence: counted through all turns.
    """

    start: int
    end: int
    text: str
    tag: str
    role: str
    head: int
    sentence: int


@dataclass(frozen=True, slots=True)
class CorefTurn:
    """Turn of a speaker; the speaker of a text is empty.

    names: (start, end, the model's label). session: a person present in another session need not be here.
    """

    speaker: str
    text: str
    words: tuple[CorefWord, ...]
    names: tuple[tuple[int, int, str], ...] = ()
    session: int = 0

    def word_in(self, start: int, end: int) -> int:
        """Return the index of the head word of a span, the last where there are several; -1 where it has no word."""
        inside = [i for i, word in enumerate(self.words) if word.start < end and word.end > start]
        return next((i for i in reversed(inside) if self.words[i].head not in inside or self.words[i].head == i), -1)

    def word(self, place: int) -> str:
        """Return the word at an index in lower case; "" beyond the ends."""
        return self.words[place].text.lower() if 0 <= place < len(self.words) else ""


@dataclass(frozen=True, slots=True)
class CorefMention:
    """Words that refer to somebody or something. start, end: characters of the turn. word: index of the head word, -1
    for a label. owner: index of the possessive ("her" in "her sister"), -1 for none. named: a name beside the noun
    means the same.
    """

    turn: int
    start: int
    end: int
    text: str
    kind: Kind
    word: int
    gender: Gender = Gender.UNKNOWN
    plural: bool = False
    owner: int = -1
    named: bool = False


class GrammarParser:
    """Parses turns with spaCy's small English model, loaded on first use. model: a path or an installed package; "" for
    the packaged model. Raises ModelError on first use when it is missing.
    """

    def __init__(self, model: str = "") -> None:
        self._model = model
        self._loaded: Any = None
        self._lock = threading.Lock()

    def parse(self, turns: Sequence[tuple[str, str]], sessions: Sequence[int] = ()) -> tuple[CorefTurn, ...]:
        """Return (speaker, text) in order. sessions: the session of each turn; none where there is a single session."""
        coref_turns, sentence = [], 0
        # What one thread reads would go from the vocabulary when another thread leaves its zone.
        with self._lock, (pipeline := self._pipeline()).memory_zone():
            documents = pipeline.pipe((text for _, text in turns), batch_size=64)
            for (speaker, text), session, document in zip(turns, sessions or [0] * len(turns), documents, strict=True):
                words = []
                for token in document:
                    sentence += bool(token.is_sent_start) or token.i == 0
                    end = token.idx + len(token.text)
                    words.append(CorefWord(token.idx, end, token.text, token.tag_, token.dep_, token.head.i, sentence))
                names = tuple((e.start_char, e.end_char, e.label_) for e in document.ents if e.label_ in _NAMES)
                coref_turns.append(CorefTurn(speaker, text, tuple(words), names, session))
        return tuple(coref_turns)

    def _pipeline(self) -> Any:
        if self._loaded is None:
            try:
                self._loaded = open_pipeline(self._model, ("lemmatizer",))
            except (ImportError, OSError, ValueError, AttributeError) as error:
                raise missing_model(self._model, error) from error
        return self._loaded


@lru_cache(maxsize=1)
def load_packaged_parser() -> GrammarParser:
    """Return the packaged model's parser, which the process shares because it takes three seconds to load."""
    return GrammarParser()


_NAMES = frozenset({"PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT", "EVENT", "WORK_OF_ART", "NORP"})
_PROPER = ("NNP", "NNPS")
COMMON = ("NN", "NNS")
_POINTS = ("the", "that", "those")
"""What "this" points to is new as often."""
_BESIDE = ("compound", "amod")
_BEFORE_ONE = ("another", "this", "that", "which")


def find_mentions(turns: Sequence[CorefTurn]) -> tuple[CorefMention, ...]:
    """Return the mentions in the turns, in order, with a label for each speaker."""
    return tuple(
        sorted((*_labels(turns), *_find(turns)), key=lambda mention: (mention.turn, mention.start, -mention.end))
    )


def place_mentions(turns: Sequence[CorefTurn], spans: Iterable[tuple[int, int, int]]) -> tuple[CorefMention, ...]:
    """Return the pronouns and names among (turn, start, end), all of people, and who speaks each turn."""
    mentions = []
    for number, start, end in spans:
        turn = turns[number]
        word = turn.word_in(start, end)
        if word >= 0 and (mention := _pronoun(turns, number, word)):
            mentions.append(replace(mention, start=start, end=end))
        elif (
            word >= 0 and turn.words[word].tag not in COMMON and (mention := _name(turns, number, start, end, "PERSON"))
        ):
            mentions.append(mention)
    return tuple(sorted((*_labels(turns), *mentions), key=lambda mention: (mention.turn, mention.start, -mention.end)))


def _labels(turns: Sequence[CorefTurn]) -> Iterator[CorefMention]:
    for number, turn in enumerate(turns):
        if turn.speaker:
            yield CorefMention(number, -1, 0, turn.speaker, Kind.LABEL, -1, name_gender(turn.speaker))


def _find(turns: Sequence[CorefTurn]) -> Iterator[CorefMention]:
    """Yield the names, pronouns and nouns of all turns."""
    for number, turn in enumerate(turns):
        taken = set[int]()
        for start, end, label in turn.names:
            if name := _name(turns, number, start, end, label):
                taken.update(range(start, end))
                yield name
        for place, word in enumerate(turn.words):
            if word.start in taken:
                continue
            # An "Emily" at the head of a sentence is tagged as an adverb.
            if word.tag in (*_PROPER, "RB") and word.text[:1].isupper() and is_first_name(word.text):
                yield CorefMention(number, word.start, word.end, word.text, Kind.NAME, place, name_gender(word.text))
            elif mention := _pronoun(turns, number, place) or _noun(turns, number, place):
                yield mention


def _name(turns: Sequence[CorefTurn], number: int, start: int, end: int, label: str) -> CorefMention | None:
    """Return a span that the model labels as a name; None where its words are no name."""
    turn = turns[number]
    text, place = turn.text[start:end], turn.word_in(start, end)
    first = text.split()[0] if text.split() else ""
    # A small model takes "Emily" for a place now and then.
    known = text[:1].isupper() and is_first_name(first)
    if not known and not any(w.tag in _PROPER for w in turn.words if w.start < end and w.end > start):
        return None
    gender = name_gender(text) if label == "PERSON" or (known and first == text) else Gender.THING
    return CorefMention(number, start, end, text, Kind.NAME, place, gender)


def _pronoun(turns: Sequence[CorefTurn], number: int, place: int) -> CorefMention | None:
    """Return a word as a pronoun, None where it is none; "'s" counts in "let's", "one" where it is no number."""
    turn = turns[number]
    word = turn.words[place]
    text = word.text.lower().replace("’", "'")
    stuttered = _STUTTER.fullmatch(text)
    text = stuttered["word"] if stuttered else text.removeprefix("d'")
    kind, gender, plural = PRONOUNS.get(text, (None, Gender.UNKNOWN, False))
    if text == "'s" and word.tag == "PRP":
        kind = Kind.WE
    elif (kind is Kind.IT and (word.role in ("det", "mark", "expl") or word.tag in ("IN", "WDT"))) or (
        kind is Kind.THERE and word.tag != "RB"
    ):
        kind = None
    elif kind is Kind.ONE:
        before = turn.words[place - 1] if place else word
        if word.role in ("nummod", "advmod") or not (before.tag.startswith("JJ") or before.text.lower() in _BEFORE_ONE):
            kind = None
    return CorefMention(number, word.start, word.end, word.text, kind, place, gender, plural) if kind else None


def _noun(turns: Sequence[CorefTurn], number: int, place: int) -> CorefMention | None:
    """Return a word as a common noun with its article and owner; None where it is none."""
    turn = turns[number]
    word = turn.words[place]
    if word.tag not in COMMON or not word.text.isalpha() or word.role == "compound":
        return None
    bare = singular(word.text.lower())
    name = place + 2 if turn.word(place + 1) == "," else place + 1
    named = word.role in ("attr", "appos") or (name < len(turn.words) and turn.words[name].tag in _PROPER)
    first = place
    while first > 0 and turn.words[first - 1].head == place and turn.words[first - 1].role in _BESIDE:
        first -= 1
    own = [i for i in range(place) if turn.words[i].head == place]
    owner = next((i for i in own if turn.words[i].role == "poss"), -1)
    points = any(turn.word(i) in _POINTS for i in own)
    gender = PERSON_NOUNS.get(bare, Gender.THING)
    start, kind = turn.words[first].start, Kind.THE if points and owner < 0 else Kind.NOUN
    text = turn.text[start : word.end]
    return CorefMention(number, start, word.end, text, kind, place, gender, word.tag == "NNS", owner, named)


def singular(noun: str) -> str:
    """Return a noun in the singular, by its ending."""
    if noun.endswith("ies") and len(noun) > 4:
        return noun[:-3] + "y"
    if noun.endswith(("ches", "shes", "sses", "xes")):
        return noun[:-2]
    return noun[:-1] if noun.endswith("s") and not noun.endswith("ss") else noun


_FORMS: dict[tuple[Kind, Gender, bool], str] = {
    (Kind.I, Gender.UNKNOWN, False): "i me my mine myself",
    (Kind.YOU, Gender.UNKNOWN, False): "you your yours yourself yourselves ya ye y'all",
    (Kind.WE, Gender.UNKNOWN, True): "we us our ours ourselves",
    (Kind.PERSON, Gender.FEMALE, False): "she her hers herself",
    (Kind.PERSON, Gender.MALE, False): "he him his himself",
    (Kind.IT, Gender.THING, False): "it its itself this that",
    (Kind.THEY, Gender.UNKNOWN, True): "they them their theirs themselves these those",
    (Kind.ONE, Gender.THING, False): "one",
    (Kind.ONE, Gender.THING, True): "ones",
    (Kind.THERE, Gender.THING, False): "there",
}
PRONOUNS: dict[str, tuple[Kind | None, Gender, bool]] = {w: of for of, words in _FORMS.items() for w in words.split()}
_STUTTER = re.compile(r"(?P<word>[a-z]+)(?:-(?P=word))+")
_TITLES = {
    Gender.FEMALE: "mrs ms miss madam lady queen princess duchess countess dame sister aunt mother madame",
    Gender.MALE: "mr sir lord king prince duke count baron brother uncle father monsieur",
}
TITLES = {word: gender for gender, words in _TITLES.items() for word in words.split()}
_PERSON_NOUNS = {
    Gender.FEMALE: "mother mom mum mommy mama stepmother sister daughter aunt niece grandmother grandma granddaughter "
    "wife widow bride fiancée girlfriend woman girl lady gal queen princess actress waitress hostess",
    Gender.MALE: "father dad daddy papa stepfather brother son uncle nephew grandfather grandpa grandson husband groom "
    "widower fiancé boyfriend man boy gentleman guy chap fellow dude bloke king prince actor waiter host policeman",
    Gender.UNKNOWN: "parent sibling child kid baby family cousin spouse friend buddy pal mate partner roommate boss "
    "neighbour neighbor teammate classmate colleague coworker manager mentor coach teacher student doctor lawyer nurse "
    "officer driver singer writer artist player chef patient client customer guest stranger person",
}
PERSON_NOUNS = {word: gender for gender, words in _PERSON_NOUNS.items() for word in words.split()}


def name_gender(name: str) -> Gender:
    """Return the gender that a title or first name shows; UNKNOWN where it is ambiguous or not in the lists."""
    words = [word.strip(".,'’").lower() for word in name.split()] or [""]
    if words[0] in TITLES and len(words) > 1:
        return TITLES[words[0]]
    if words[0] in PERSON_NOUNS:
        return PERSON_NOUNS[words[0]]
    female, male = (words[0] in names for names in _first_names())
    return Gender.UNKNOWN if female == male else Gender.FEMALE if female else Gender.MALE


def is_first_name(word: str) -> bool:
    """Return whether a word is in the lists of first names."""
    return any(word.lower() in names for names in _first_names())


@lru_cache(maxsize=1)
def _first_names() -> tuple[frozenset[str], frozenset[str]]:
    text = resources.files("amgs.conversation.coreference").joinpath("data/names.txt").read_text(encoding="utf-8")
    female, male = text.removeprefix("# female\n").split("# male\n")
    return frozenset(female.split()), frozenset(male.split())
