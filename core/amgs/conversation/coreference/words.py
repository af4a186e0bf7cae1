"""What English words tell of whom they mean: pronouns, titles, greetings, first names."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import resources

from amgs.conversation.coreference.passage import Gender, Kind


def word_set(words: str) -> frozenset[str]:
    """Words that are written with blanks between them."""
    return frozenset(words.split())


_PRONOUNS = {
    (Kind.I, Gender.UNKNOWN): "i me my mine myself",
    (Kind.YOU, Gender.UNKNOWN): "you your yours yourself yourselves ya ye y'all",
    (Kind.WE, Gender.UNKNOWN): "we us our ours ourselves",
    (Kind.PERSON, Gender.FEMALE): "she her hers herself",
    (Kind.PERSON, Gender.MALE): "he him his himself",
}
PRONOUNS = {word: of for of, words in _PRONOUNS.items() for word in words.split()}
_STUTTER = re.compile(r"(?P<word>[a-z]+)(?:-(?P=word))+")


def pronoun(text: str) -> tuple[Kind, Gender] | None:
    """What kind of pronoun a word is, in a stutter ("I-I") or a contraction ("d'you") too; None for others."""
    word = text.lower().replace("’", "'")
    stuttered = _STUTTER.fullmatch(word)
    return PRONOUNS.get(stuttered["word"] if stuttered else word.removeprefix("d'"))


_TITLES = {
    Gender.FEMALE: "mrs ms miss madam lady queen princess duchess countess dame sister aunt mother madame",
    Gender.MALE: "mr sir lord king prince duke count baron brother uncle father monsieur",
}
TITLES = {word: gender for gender, words in _TITLES.items() for word in words.split()}
GROUP_CALLS = word_set("guys everyone everybody people folks fellas ladies gentlemen all both two three")
GREETINGS = word_set(
    "hey hi hello oh ok okay look listen thanks thank bye goodbye come please god yes yeah no sorry well now so and "
    "but alright right morning you night uh um ah what"
)


def name_gender(name: str) -> Gender:
    """What a title or a first name tells, UNKNOWN where it is given to both or is not known."""
    words = [word.strip(".,'’").lower() for word in name.split()]
    if not words:
        return Gender.UNKNOWN
    if words[0] in TITLES and len(words) > 1:
        return TITLES[words[0]]
    female, male = _first_names()
    if (words[0] in female) == (words[0] in male):
        return Gender.UNKNOWN
    return Gender.FEMALE if words[0] in female else Gender.MALE


def is_first_name(word: str) -> bool:
    """Whether the lists hold a word as a first name."""
    return any(word.lower() in names for names in _first_names())


@lru_cache(maxsize=1)
def _first_names() -> tuple[frozenset[str], frozenset[str]]:
    text = (
        resources.files("amgs.conversation.coreference")
        .joinpath("data/names.txt")
        .read_text(encoding="utf-8")
    )
    female, male = text.removeprefix("# female\n").split("# male\n")
    return frozenset(female.split()), frozenset(male.split())
