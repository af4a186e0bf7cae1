"""Everybody who is spoken of in a passage, by the name under which they are kept."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from amgs.conversation.coreference.addressee import CorefCue
from amgs.conversation.coreference.passage import CorefMention, CorefPassage, Gender
from amgs.conversation.coreference.words import GREETINGS, TITLES, is_first_name, name_gender, word_set

_SHORTEST = 3  # letters of a short form


class People:
    """Names of who speaks here and of who is known elsewhere, and those that come up.

    here: who speaks; elsewhere: other people's whole names, as a store knows them. A name that fits two of them fits
    nobody, unless one of the two speaks here.
    """

    def __init__(self, here: Sequence[str], elsewhere: Iterable[str] = ()) -> None:
        self.here = tuple(here)
        self._elsewhere = tuple(dict.fromkeys(n for n in elsewhere if n not in self.here))
        self._new: dict[str, str] = {}

    def named(self, text: str) -> tuple[str, CorefCue]:
        """Who is meant by a name, and by what it fits; a name that fits nobody is a person of its own."""
        words = [w.strip(".,'’\"").removesuffix("'s").removesuffix("’s") for w in text.split()]
        words = [w for w in words if w and w[0].isalpha() and w.lower() not in GREETINGS] or [text]
        for group in (self.here, self._elsewhere, tuple(self._new)):
            found = [name for name in group if _fits(words, name)]
            if len(found) == 1:
                return found[0], CorefCue.NAMED
        for group in (self.here, self._elsewhere, tuple(self._new)):
            found = [name for name in group if _short_form(words, name)]
            if len(found) == 1:
                return found[0], CorefCue.NICKNAME
        self._new[text] = text
        return text, CorefCue.NEW_NAME

    def gender(self, name: str) -> Gender:
        """What the name tells."""
        return name_gender(name)


def _fits(words: Sequence[str], name: str) -> bool:
    """Whether all words of a mention are of a name, a title aside, in any case of letters."""
    own = {part.strip(".").lower() for part in name.split()}
    said = [w.lower() for w in words if w.lower() not in TITLES] or [w.lower() for w in words]
    if len(said) == len(words):
        return all(w in own for w in said)
    gender = TITLES.get(words[0].lower(), Gender.UNKNOWN)
    return _alike(gender, name_gender(name)) and all(w in own for w in said)


def _alike(one: Gender, other: Gender) -> bool:
    """Whether two genders may be of one person."""
    return one is other or Gender.UNKNOWN in (one, other)


def _short_form(words: Sequence[str], name: str) -> bool:
    """Whether one word is the beginning of a name's first word: "Rach", "Phoebs"."""
    if len(words) != 1 or len(words[0]) < _SHORTEST:
        return False
    said, first = words[0].lower(), name.split()[0].lower()
    if not is_first_name(first) or not _alike(
        name_gender(said), name_gender(first)
    ):  # no "Ann" is "Announcement"
        return False
    return first.startswith(said) or (
        said.endswith("s") and len(said) > _SHORTEST and first.startswith(said[:-1])
    )


def subject_of(passage: CorefPassage, mention: CorefMention) -> int | None:
    """The word of which a noun is said to be: "Ross" in "Ross is a doctor"; None where it stands otherwise."""
    if mention.word < 0:
        return None
    word = passage.words[mention.word]
    if word.role not in ("attr", "oprd") or passage.words[word.head].text.lower() not in _BE:
        return None
    turn = passage.turns[mention.turn].words
    return next(
        (i for i in turn if passage.words[i].head == word.head and passage.words[i].role == "nsubj"), None
    )


def words_beside(passage: CorefPassage, mention: CorefMention) -> set[int]:
    """The words of the same person as a noun: "Ross" in "my brother Ross", "my boss, Joanna", "a friend named Ross"."""
    if mention.word < 0:
        return set()
    words, noun, turn = passage.words, passage.words[mention.word], passage.turns[mention.turn].words
    found = {i for i in turn if words[i].head == mention.word and words[i].role == "appos"}
    if noun.role in ("appos", "compound", "nmod"):
        found.add(noun.head)
    named = {
        i for i in turn if words[i].head == mention.word and words[i].text.lower() in ("named", "called")
    }
    return found | {i for i in turn if words[i].head in named and words[i].role == "oprd"}


_BE = word_set("be am is are was were been being 'm 's 're become became")
