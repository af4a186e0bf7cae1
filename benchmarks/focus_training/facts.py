"""Lifetimes made up for training: facts about invented people and things among other text, and a question at the end.

What they teach is to find the span that the end asks about. Everything is drawn from a seed.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_STARTS = _words(
    """
    Al Bren Cor Dag El Fen Gar Hil Is Jor Kel Lun Mar Nor Os Per Quil Ros Sel Tam Ul Vor Wen Yar Zel
    """
)
_MIDDLES = ("", *_words("a e i o an en ir or al"))
_ENDS = _words("beth dan dric fina gar lina mond nika ra rick son tha vin wyn zo")
_THINGS = _words(
    """
    ladder kettle violin tent lamp bicycle atlas anvil telescope blanket toolbox map camera compass
    saddle radio clock loom canoe easel
    """
)
_PLACES = _words(
    """
    attic bakery chapel dairy garage greenhouse harbour library mill orchard pantry quarry stable
    station tavern tower warehouse workshop cellar school
    """
)
_TRADES = _words(
    """
    baker carpenter dentist farmer glazier judge mason nurse painter pilot plumber printer sailor
    surgeon tailor teacher weaver welder editor florist
    """
)
_COLOURS = _words("amber black blue brown crimson green grey orange purple red white yellow")
_TOWNS = _words("ford ham burgh mouth stead wick by dale haven mere")
_ANIMALS = _words("cat dog goat heron horse mule owl parrot pony rabbit sheep tortoise")
_DAYS = _words("Monday Tuesday Wednesday Thursday Friday Saturday Sunday")

# how a fact is told (two ways), asked about (two ways) and answered; {a} is whom or what it is about, {v} what
# is asked for
_KINDS: tuple[tuple[str, tuple[str, ...], tuple[str, ...], str], ...] = (
    (
        "trade",
        ("{a} earns a living as a {v}.", "After years of study {a} had become a {v}, and a good one."),
        ("What does {a} do for a living?", "Which trade did {a} learn?"),
        "{a} is a {v}.",
    ),
    (
        "place",
        ("The {a} was left in the {v} last week.", "Nobody has moved the {a}; it still stands in the {v}."),
        ("Where is the {a}?", "In which room or building would one look for the {a}?"),
        "The {a} is in the {v}.",
    ),
    (
        "town",
        ("{a} grew up in {v} and moved away at twenty.", "The family of {a} has always lived in {v}."),
        ("Which town does {a} come from?", "Where did {a} grow up?"),
        "{a} comes from {v}.",
    ),
    (
        "colour",
        ("{a} painted the front door {v} in spring.", "You will know the house of {a} by its {v} door."),
        ("What colour is the door of {a}?", "Which paint did {a} choose for the door?"),
        "The door of {a} is {v}.",
    ),
    (
        "price",
        ("The {a} was sold for {v} crowns at the market.", "A dealer gave {v} crowns for the {a}."),
        ("How much was paid for the {a}?", "What did the {a} cost?"),
        "The {a} cost {v} crowns.",
    ),
    (
        "animal",
        ("{a} keeps a {v} behind the house.", "The only animal that {a} ever owned is a {v}."),
        ("Which animal does {a} keep?", "What animal lives with {a}?"),
        "{a} keeps a {v}.",
    ),
    (
        "friend",
        ("{a} shares a flat with {v}.", "Since the autumn {a} and {v} live under one roof."),
        ("With whom does {a} live?", "Who shares a flat with {a}?"),
        "{a} lives with {v}.",
    ),
    (
        "day",
        ("The choir in which {a} sings meets every {v}.", "Every {v} {a} goes to choir practice."),
        ("On which day does {a} sing in the choir?", "When is choir practice for {a}?"),
        "{a} sings every {v}.",
    ),
)


@dataclass(frozen=True, slots=True)
class InventedFact:
    """The paragraph that tells it, a question that it answers, and how a model should answer."""

    paragraph: int
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class FactText:
    """Paragraphs in order, and the facts among them."""

    paragraphs: tuple[str, ...]
    facts: tuple[InventedFact, ...]


def fact_text(generator: random.Random, filler: Sequence[str], facts: int) -> FactText:
    """`facts` facts of which no two are about the same, spread among the paragraphs of filler."""
    tellings: list[str] = []
    asked: list[tuple[str, str]] = []
    used: set[tuple[str, str]] = set()
    while len(tellings) < facts:
        kind, told, questions, answer = generator.choice(_KINDS)
        about = _subject(generator, kind)
        if (kind, about) in used:
            continue
        used.add((kind, about))
        words = {"a": about, "v": _value(generator, kind)}
        tellings.append(generator.choice(told).format(**words))
        asked.append((generator.choice(questions).format(**words), answer.format(**words)))
    order = [*range(facts), *(-1 for _ in filler)]  # which fact each paragraph tells, -1 for filler
    generator.shuffle(order)
    rest = iter(filler)
    paragraphs = tuple(next(rest) if which < 0 else tellings[which] for which in order)
    found = tuple(InventedFact(order.index(which), *asked[which]) for which in range(facts))
    return FactText(paragraphs, found)


def _subject(generator: random.Random, kind: str) -> str:
    if kind in ("place", "price"):
        return f"{generator.choice(_COLOURS)} {generator.choice(_THINGS)}"
    return _name(generator)


def _value(generator: random.Random, kind: str) -> str:
    values = {"trade": _TRADES, "place": _PLACES, "colour": _COLOURS, "animal": _ANIMALS, "day": _DAYS}
    if kind in values:
        return generator.choice(values[kind])
    if kind == "price":
        return str(generator.randrange(12, 990))
    if kind == "town":
        return generator.choice(_STARTS) + generator.choice(_MIDDLES) + generator.choice(_TOWNS)
    return _name(generator)


def _name(generator: random.Random) -> str:
    return generator.choice(_STARTS) + generator.choice(_MIDDLES) + generator.choice(_ENDS)
