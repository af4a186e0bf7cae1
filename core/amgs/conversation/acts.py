"""What a conversation leaves to be done: questions, goals and commitments, each open or closed by a later message.

An act is closed only where the words say so: a wrong "closed" hides what is owed, a wrong "open" costs a glance.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from amgs.conversation.cohesion import stems
from amgs.conversation.questions import THRESHOLD, question_chance
from amgs.conversation.sentences import sentences

ActKind = Literal["question", "goal", "commitment"]

_GOAL = re.compile(
    r"\b(?:i|we)(?:'d like| would like| want| wanna| need| hope| plan| aim| intend|(?:'m| am|'re| are) "
    r"(?:trying|hoping|planning|aiming|looking)) (?:to|for)\b|"
    r"\b(?:my|our|the) (?:goal|aim|objective|dream) (?:is|was)\b"
    r"|^(?:\W*(?:ok|okay|and|so|then|now|great|thanks)\W+)*please \w+",
    re.IGNORECASE,
)
_COMMITMENT = re.compile(
    r"\b(?:i|we)(?:'ll| will| shall|(?:'m| am|'re| are) (?:going to|gonna)| promise to)\s+(?:\w+ly |also |just |then )*"
    r"(?!not\b|never\b|be (?:happy|glad|sad|fine|honest|there for)\b|bet\b|guess\b|say\b|admit\b|miss\b|have to\b|"
    r"need\b|probably\b|always\b|love\b|like\b)\w+",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"\b(?:done|finished|completed|fixed|sent|bought|booked|merged|shipped|deployed|submitted|managed to)\b",
    re.IGNORECASE,
)
_REPLY_WITHIN = 3
"""Messages after a question in which an answer closes it."""
_DONE_WITHIN = 40
_SHARED, _SHARE = 2, 0.5
"""So many words, and so much of what it says, a sentence has in common with the act that it closes."""


@dataclass(frozen=True, slots=True)
class DialogueAct:
    """A sentence that asks, wants or promises. place: of its message, from 0; start, end: in its text. chance: in
    [0, 1], how likely it is one. closed_by: the place of the message that closed it, None while it is open.
    """

    kind: ActKind
    place: int
    start: int
    end: int
    chance: float
    closed_by: int | None = None


def acts(texts: Sequence[str], speakers: Sequence[str]) -> tuple[DialogueAct, ...]:
    """The acts of n messages in the order of time, each with what closed it. speakers: who said each."""
    found = [(act, texts[act.place][act.start : act.end]) for act in _opened(texts)]
    asks_only = [_only_asks(text) for text in texts]
    closed = []
    for act, sentence in found:
        if act.kind == "question":
            by = _answer(act.place, speakers, asks_only)
        else:
            by = _fulfilment(act, sentence, texts, speakers)
        closed.append(DialogueAct(act.kind, act.place, act.start, act.end, act.chance, by))
    return tuple(closed)


def _opened(texts: Sequence[str]) -> Iterator[DialogueAct]:
    for place, text in enumerate(texts):
        for start, end in sentences(text):
            sentence = text[start:end].replace("’", "'")
            chance = question_chance(sentence)
            if chance > THRESHOLD:
                yield DialogueAct("question", place, start, end, chance)
            elif _COMMITMENT.search(sentence):
                yield DialogueAct("commitment", place, start, end, 0.5)
            elif _GOAL.search(sentence):
                yield DialogueAct("goal", place, start, end, 0.5)


def commits(sentence: str) -> bool:
    """Whether a sentence promises something."""
    return _COMMITMENT.search(sentence.replace("’", "'")) is not None


def _only_asks(text: str) -> bool:
    """Whether a message says nothing beside its questions."""
    return all(question_chance(text[a:b]) > THRESHOLD for a, b in sentences(text))


def _answer(place: int, speakers: Sequence[str], asks_only: Sequence[bool]) -> int | None:
    """The first message soon after in which another speaker says something that is no question."""
    for later in range(place + 1, min(len(speakers), place + 1 + _REPLY_WITHIN)):
        if speakers[later] != speakers[place] and not asks_only[later]:
            return later
    return None


def _fulfilment(act: DialogueAct, sentence: str, texts: Sequence[str], speakers: Sequence[str]) -> int | None:
    """The first later message of the speaker that tells of something done in the words of the act."""
    wanted = stems(_COMMITMENT.sub(_verb, _GOAL.sub(" ", sentence))).keys()
    if len(wanted) < _SHARED:
        return None
    for later in range(act.place + 1, min(len(texts), act.place + 1 + _DONE_WITHIN)):
        if speakers[later] == speakers[act.place] and _DONE.search(texts[later]):
            for start, end in sentences(texts[later]):
                piece = texts[later][start:end]
                shared = len(wanted & stems(piece).keys())
                if shared >= max(_SHARED, _SHARE * len(wanted)) and _DONE.search(piece):
                    return later
    return None


def _verb(found: re.Match[str]) -> str:
    """Of "I will send", "send"."""
    return found[0].rsplit(maxsplit=1)[-1]
