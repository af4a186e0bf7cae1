"""Find what a conversation leaves to be done: questions, each open or closed by an answer, goals and commitments."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from amgs.text.sentences import sentences

ActKind = Literal["question", "goal", "commitment"]

_GOAL = re.compile(
    r"\b(?:i|we)(?:'?d like| would like| want| wanna| need| hope| plan| aim| intend|(?:'?m| am|'?re| are) "
    r"(?:trying|hoping|planning|aiming|looking|thinking)|(?:'ve| have) (?:decided|been (?:trying|planning|meaning)))"
    r" (?:(?:to|for|on|of|about|into)\s+)+(?:just )?(?!be clear|be honest|know\b|thank\b|say\b|ask\b|show\b|add\b|"
    r"see\b|hear\b|note\b|point\b|make (?:it )?clear|mention\b|congratulate\b|welcome\b|talk\b|tell\b|you\b|"
    r"it\b|that\b|this\b|them\b|him\b|her\b)\w+|\b(?:i|we) wanna (?!know\b|say\b|ask\b|hear\b|see\b|be\b)\w+|"
    r"\b(?:my|our|the) (?:(?:main|next|big|ultimate) )?(?:goal|aim|objective|dream|plan) is\b"
    r"|^(?:\W*(?:ok|okay|and|so|then|now|great|thanks)\W+)*please (?!note|let me know|keep|remember|feel|see)\w+",
    re.IGNORECASE,
)
_COMMITMENT = re.compile(
    r"(?:\b(?:i|we)(?:'ll| will| shall|(?:'?m| am|'?re| are) (?:going to|gonna)| promise to)|"
    r"(?:^|[,;:.] |\b(?:and|so|then|but|ok|okay) )ill|^\W*(?:gonna|will(?= do\b)))\s+"
    r"(?:\w+ly |also |just |then |have to |need to |be sure to |make sure (?:to |that )?)*"
    r"(?!not\b|never\b|always\b|probably\b|be\b|become\b|bet\b|guess\b|say\b|admit\b|miss\b|love\b|like\b|"
    r"enjoy\b|feel\b|know\b|think\b|understand\b|remember\b|trust\b|leave\b|keep\b|continue\b|look forward|"
    r"reach out|try (?:my|our) best|do (?:my|our) best|see you|talk (?:to|soon)|make (?:it|some|a difference)|"
    r"have (?:a|the|some|fun|no)\b|get (?:there|through|better)|a\b|the\b)\w+",
    re.IGNORECASE,
)
"""Said of what somebody does, not of how he is, feels or stays: "I'll keep going" is nothing that gets done."""
_HEDGED = re.compile(
    r"\b(?:know|knew|sure|hope|wonder|wish|how|what|where|why|which|until|that|whether|if|when|whenever|once|as|what's)"
    r"\W+$",
    re.IGNORECASE,
)
"""Before an act it makes something else of it: "I know I'll …", "the way that we will …"."""
_HEDGE = 16
"""Characters that a word of _HEDGED takes at most."""
_CONDITION = re.compile(
    r"^\W*(?:if|when|whenever|unless)\b|(?<!see )(?<!check )(?<!ask )\bif (?:i|you|we)\b", re.IGNORECASE
)
_KINDS: tuple[tuple[ActKind, re.Pattern[str]], ...] = (("commitment", _COMMITMENT), ("goal", _GOAL))
_REPLY_WITHIN = 3
"""Messages after a question in which an answer closes it."""
_NODS = frozenset(re.findall(r"\S+", "m mm hmm mhm uh huh um hm ah oh okay ok right sure cool wow"))
"""Words of a listener: alone they answer nothing."""


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
    """Find the acts of n messages in the order of time. speakers: who said each. An answer closes a question; a goal
    and a promise stay open: people in chats hardly ever tell that they are done.
    """
    silent = [_only_asks(text) or _nods(text) for text in texts]
    dialogue_acts: list[DialogueAct] = []
    for place, text in enumerate(texts):
        for start, end in sentences(text):
            sentence = text[start:end].replace("’", "'")
            if chance := question_chance(sentence):
                answer = _find_answer(place, speakers, silent)
                dialogue_acts.append(DialogueAct("question", place, start, end, chance, answer))
            elif kind := next((kind for kind, act in _KINDS if _acts(act, sentence)), None):
                dialogue_acts.append(DialogueAct(kind, place, start, end, 0.5))
    return tuple(dialogue_acts)


def commits(sentence: str) -> bool:
    """Return whether a sentence promises something."""
    return _acts(_COMMITMENT, sentence.replace("’", "'"))


def _acts(act: re.Pattern[str], sentence: str) -> bool:
    """Return whether a sentence promises or wants, and no condition or doubt takes it back."""
    if _CONDITION.search(sentence):
        return False
    return any(not _HEDGED.search(sentence[: match.start()][-_HEDGE:]) for match in act.finditer(sentence))


def _only_asks(text: str) -> bool:
    """Return whether a message says nothing beside its questions."""
    return all(is_question(text[a:b]) for a, b in sentences(text))


def _nods(text: str) -> bool:
    """Return whether a message only shows that its speaker listens."""
    return not set(question_words(text.replace("-", " "))) - _NODS


def _find_answer(place: int, speakers: Sequence[str], silent: Sequence[bool]) -> int | None:
    """Find the first message soon after in which another speaker says something that is no question."""
    for later in range(place + 1, min(len(speakers), place + 1 + _REPLY_WITHIN)):
        if speakers[later] != speakers[place] and not silent[later]:
            return later
    return None


# Whether a sentence asks: by its question mark, and without any mark at its end by the word it begins with.


_WORD = re.compile(r"[a-z0-9]+(?:['-][a-z0-9]+)*")
_ASKED = re.compile(r"\?[?!]*[\"'”’)\]]*$")
_ENDED = re.compile(r"[.!…][\"'”’)\]]*$")
_FILLERS = frozenset(
    re.findall(
        r"\S+",
        "uh um well so and but okay ok oh like yeah yes no right hmm mmm mm uhhuh then now hey wow haha lol also "
        "because or hi hello",
    )
)
_TWO_WORDS = (["you", "know"], ["i", "mean"])
ASKING = frozenset(
    re.findall(
        r"\S+",
        "what who where when why which how whose whom do does did is are was were can could will would should have "
        "has had am may might shall don't doesn't didn't isn't aren't wasn't can't couldn't won't wouldn't shouldn't "
        "haven't hasn't what's who's where's how's",
    )
)
"""Words of questions, and those that a question turns round."""
_ASKS_UNMARKED = 0.8
"""How likely a sentence of chats asks that ends without a mark and begins as questions do; in speech it is half."""


def question_chance(sentence: str) -> float:
    """Return how likely a sentence asks: 1 with a question mark; without any mark by the word after its fillers; else
    0.
    """
    if _ASKED.search(sentence):
        return 1.0
    words = after_fillers(question_words(sentence))
    return _ASKS_UNMARKED if words and words[0] in ASKING and not _ENDED.search(sentence) else 0.0


def is_question(sentence: str) -> bool:
    return question_chance(sentence) > 0.0


def question_words(sentence: str) -> list[str]:
    """Return words in lower case, without marks."""
    return _WORD.findall(sentence.lower().replace("’", "'"))


def after_fillers(words: Sequence[str]) -> Sequence[str]:
    """Return the words after "well", "okay so", "you know" and their like; at least one is left."""
    at = 0
    while at < len(words) - 1:
        if words[at] in _FILLERS:
            at += 1
        elif list(words[at : at + 2]) in _TWO_WORDS and at < len(words) - 2:
            at += 2
        else:
            break
    return words[at:]
