"""What English words tell of whom they mean: pronouns, titles, kin and roles, first names."""

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
    (Kind.THEY, Gender.UNKNOWN): "they them their theirs themselves themself 'em",
    (Kind.IT, Gender.THING): "it its itself",
}
PRONOUNS = {word: of for of, words in _PRONOUNS.items() for word in words.split()}
_STUTTER = re.compile(r"(?P<word>[a-z]+)(?:-(?P=word))+")


def pronoun(text: str) -> tuple[Kind, Gender] | None:
    """What kind of pronoun a word is, in a stutter ("I-I") or a contraction ("d'you") too; None for others."""
    word = text.lower().replace("’", "'")
    stuttered = _STUTTER.fullmatch(word)
    return PRONOUNS.get(stuttered["word"] if stuttered else word.removeprefix("d'"))


PLURAL_PRONOUNS = frozenset({Kind.WE, Kind.THEY})
REFLEXIVES = word_set("myself yourself yourselves ourselves himself herself themselves themself itself")

_TITLES = {
    Gender.FEMALE: "mrs ms miss madam lady queen princess duchess countess dame sister aunt mother madame",
    Gender.MALE: "mr sir lord king prince duke count baron brother uncle father monsieur",
}
_NOUNS = {
    Gender.FEMALE: "woman girl lady mother mom mum mommy mama sister daughter wife aunt grandmother grandma niece "
    "girlfriend bride widow queen princess actress waitress hostess heroine nun maid housewife stepmother fiancée "
    "goddess witch duchess chick gal ma'am madam granddaughter stewardess lass businesswoman",
    Gender.MALE: "man boy gentleman father dad daddy papa brother son husband uncle grandfather grandpa nephew "
    "boyfriend groom widower king prince actor waiter host hero monk guy dude bloke lad chap fellow stepfather fiancé "
    "god wizard duke sir grandson businessman policeman fireman salesman chairman priest",
    Gender.UNKNOWN: "person friend child kid baby doctor teacher student boss neighbour neighbor colleague partner "
    "lawyer nurse cousin parent sibling spouse roommate manager officer driver singer writer artist patient client "
    "customer buddy pal honey sweetie sweetheart darling dear babe stranger guest chef player someone somebody anyone "
    "anybody everyone everybody one",
}
NOUNS = {word: gender for gender, words in _NOUNS.items() for word in words.split()}
TITLES = {word: gender for gender, words in _TITLES.items() for word in words.split()}
KIN = word_set(
    "mother mom mum mommy mama father dad daddy papa sister brother daughter son wife husband aunt uncle grandmother "
    "grandma grandfather grandpa niece nephew cousin girlfriend boyfriend fiancé fiancée partner boss roommate"
)
_SAME_KIN = {
    "mother": "mom mum mommy mama",
    "father": "dad daddy papa",
    "grandmother": "grandma",
    "grandfather": "grandpa",
}
_PLAIN_KIN = {word: plain for plain, words in _SAME_KIN.items() for word in words.split()}
ENDEARMENTS = word_set(
    "honey sweetie sweetheart darling dear babe baby buddy pal man dude sir ma'am madam bro mate love kiddo"
)
GROUP_CALLS = word_set("guys everyone everybody people folks fellas ladies gentlemen all both two three")
GREETINGS = word_set(
    "hey hi hello oh ok okay look listen thanks thank bye goodbye come please god yes yeah no sorry well now so and "
    "but alright right morning you night uh um ah what"
)


def kinship(word: str) -> str:
    """The relative that a word means, "mother" for "mom"; empty for other words."""
    word = word.lower()
    return _PLAIN_KIN.get(word, word) if word in KIN else ""


def name_gender(name: str) -> Gender:
    """What a title or a first name tells, UNKNOWN where it is given to both or is not known."""
    words = [word.strip(".,'’").lower() for word in name.split()]
    if not words:
        return Gender.UNKNOWN
    if words[0] in TITLES and len(words) > 1:
        return TITLES[words[0]]
    female, male = _first_names()
    for word in words:
        if (word in female) != (word in male):
            return Gender.FEMALE if word in female else Gender.MALE
        if word in female or word not in NOUNS:
            break
    return NOUNS.get(words[-1], Gender.UNKNOWN)


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
