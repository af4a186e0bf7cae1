"""Mentions: found in what was parsed, or given by their spans; with kind, number and gender read from the words."""

from __future__ import annotations

from collections.abc import Iterable

from amgs.conversation.coreference.parser import Parsed
from amgs.conversation.coreference.passage import CorefMention, CorefPassage, Gender, Kind, with_mentions
from amgs.conversation.coreference.words import (
    NOUNS,
    PLURAL_PRONOUNS,
    is_first_name,
    kinship,
    name_gender,
    pronoun,
)

_PROPER = frozenset({"NNP", "NNPS"})
_KIN_TAGS = frozenset({"NN", "NNP"})
_PLURAL_TAGS = frozenset({"NNS", "NNPS"})


def detected(parsed: Parsed) -> CorefPassage:
    """The passage with the mentions that were found in it: labels, pronouns, names, nouns of people."""
    passage = parsed.passage
    taken = bytearray(len(passage.text))  # 1 where a mention is
    spans: set[tuple[int, int]] = set()
    names: set[tuple[int, int]] = set()

    def take(found: Iterable[tuple[int, int]], into: set[tuple[int, int]]) -> None:
        for start, end in found:
            if not any(taken[start:end]):
                taken[start:end] = b"\1" * (end - start)
                into.add((start, end))

    take(parsed.people, names)
    # A small model takes "Emily" for a place now and then.
    take((span for span in parsed.names if is_first_name(passage.text[slice(*span)])), names)
    take(parsed.names, spans)
    take(((w.start, w.end) for w in passage.words if _pronoun(w.text, w.tag)), spans)
    # An "Emily" at the head of a sentence is tagged as an adverb.
    proper = (
        w
        for w in passage.words
        if (w.tag in _PROPER or w.tag == "RB") and w.text[:1].isupper() and is_first_name(w.text)
    )
    take(((w.start, w.end) for w in proper), names)
    spans |= names
    # "my sister" holds a pronoun and is a mention of its own.
    groups = {(g.start, g.end) for g in parsed.groups if g.head.lower() in NOUNS and not g.proper}
    spans |= groups
    # "Oh, dad, come in": a call is no group of words.
    ends = {end for _, end in groups}
    kin = (w for w in passage.words if kinship(w.text) and w.tag in _KIN_TAGS and w.end not in ends)
    take(((w.start, w.end) for w in kin), spans)
    return given(passage, sorted(spans), people=frozenset(names))


def given(
    passage: CorefPassage,
    spans: Iterable[tuple[int, int]],
    *,
    people: frozenset[tuple[int, int]] | None = None,
) -> CorefPassage:
    """The passage with the mentions of these spans of characters and the labels of its turns.

    people: which of the names are a person's; None where all are.
    """
    turns = passage.turns
    found = [
        _mention(passage, start, end, turn, people is None or (start, end) in people)
        for start, end, turn in _placed(passage, spans)
    ]
    labels = [
        CorefMention(
            t.start - len(t.speaker) - 2,
            t.start - 2,
            t.speaker,
            Kind.LABEL,
            number,
            -1,
            name_gender(t.speaker),
        )
        for number, t in enumerate(turns)
        if t.speaker
    ]
    return with_mentions(passage, found + labels)


def _placed(passage: CorefPassage, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Spans with the turn that each lies in; one outside every turn is left out."""
    placed, turn = [], 0
    for start, end in sorted(spans):
        while turn < len(passage.turns) and passage.turns[turn].end <= start:
            turn += 1
        if (
            turn < len(passage.turns)
            and passage.turns[turn].start <= start
            and end <= passage.turns[turn].end
        ):
            placed.append((start, end, turn))
    return placed


def _mention(passage: CorefPassage, start: int, end: int, turn: int, person: bool) -> CorefMention:
    text = passage.text[start:end]
    word = passage.head_of(start, end, turn)
    tag = passage.words[word].tag if word >= 0 else ""
    found = _pronoun(text, tag)
    if found is not None:
        kind, gender = found
        return CorefMention(start, end, text, kind, turn, word, gender, kind in PLURAL_PRONOUNS)
    head = passage.words[word].text if word >= 0 else text
    named = any(passage.words[i].tag in _PROPER for i in passage.words_of(start, end, turn))
    if named or (not NOUNS.get(head.lower()) and text[:1].isupper() and is_first_name(text.split()[0])):
        gender = name_gender(text)
        return CorefMention(
            start, end, text, Kind.NAME, turn, word, gender if person else Gender.THING, tag == "NNPS"
        )
    plural = tag in _PLURAL_TAGS
    singular = head.lower().removesuffix("s") if plural else head.lower()
    return CorefMention(start, end, text, Kind.NOUN, turn, word, NOUNS.get(singular, Gender.UNKNOWN), plural)


def _pronoun(text: str, tag: str) -> tuple[Kind, Gender] | None:
    """What kind of pronoun a word is: "'s" is one in "let's"."""
    return (Kind.WE, Gender.UNKNOWN) if tag == "PRP" and text in ("'s", "’s") else pronoun(text)
