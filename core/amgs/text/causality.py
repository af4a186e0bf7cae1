"""Causes that a text states itself: "the dome stalled because the rail was iced".

Only what a connective says is read, and only where a sentence asserts it: no question, no "not because", no "maybe
because", no "might lead to". That two things happen together says nothing here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from amgs.text.prose import prose
from amgs.text.sentences import sentences


@dataclass(frozen=True, slots=True)
class StatedCause:
    """A sentence and what it says caused what.

    sentence: as the text has it, on one line. cause, effect: clauses of it; where the sentence points back ("because
    of that"), the cause is the sentence before it, and empty where the text begins with it. confidence: how often
    such a sentence is said to state a cause, in [0, 1].
    """

    sentence: str
    cause: str
    effect: str
    connective: str
    confidence: float


@dataclass(frozen=True, slots=True)
class _Connective:
    """first: which of the two stands before it. opens: it may begin a sentence, with the cause up to the comma."""

    pattern: re.Pattern[str]
    first: Literal["cause", "effect"]
    confidence: float
    opens: bool = False


def _words(text: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w'’-])(?:{text})(?![\w'’-])", re.IGNORECASE)


# Of the first four the confidence is the share of sentences of news that were annotated as causal (CausalNewsCorpus,
# one added to both sides), 51, 20, 13 and 75 sentences; of the others, which news hardly use, from reading.
_CONNECTIVES = (
    _Connective(
        _words(r"because(?: of)?|due to(?! (?:be|start|begin|arrive|open|end)\b)"), "effect", 0.94, True
    ),
    _Connective(
        _words(
            r"owing to|thanks to|on account of|as a (?:result|consequence) of|in (?:the )?wake of|in response to"
        ),
        "effect",
        0.82,
        True,
    ),
    _Connective(
        _words(
            r"(?:caused|triggered|sparked|prompted|provoked|brought (?:on|about)) by"
            r"|(?:stem(?:s|med)?|result(?:s|ed)?) from"
        ),
        "effect",
        0.67,
    ),
    _Connective(
        _words(
            r"(?:has |have |had )?(?:led|leads) to|leading to|result(?:s|ed|ing) in"
            r"|(?:has |have |had )?(?:caused|triggered|sparked|prompted|provoked|brought about)(?! by)"
            r"|causing|sparking|forcing"
        ),
        "cause",
        0.86,
    ),
    _Connective(
        re.compile(
            r"(?<=[;,] )(?:and )?(?:therefore|hence|consequently|as a (?:result|consequence)(?! of)"
            r"|for (?:this|that) reason)(?![\w-])",
            re.IGNORECASE,
        ),
        "cause",
        0.85,
    ),
    _Connective(_words(r"(?:which|that|this)(?: is|['’]s| was) why"), "cause", 0.9),
    _Connective(
        re.compile(
            r"(?<=,) so(?= (?:I|we|you|he|she|it|they|the|this|there|my|our|your|his|her|its|their|now|no)\b)",
            re.IGNORECASE,
        ),
        "cause",
        0.9,
    ),
)
_BACK = re.compile(
    r"(?:and |but |so )?(?:(?:(?:because of|due to|owing to|thanks to|as a (?:result|consequence) of|in response to)"
    r" (?:this|that|which|it|these|those)\b(?! \w))"
    r"|(?:(?:therefore|hence|consequently|as a (?:result|consequence)|for (?:this|that) reason"
    r"|(?:that|this)(?: is|['’]s| was) (?:the reason )?why)\b)"
    r"|(?:(?:this|that|which)(?: has| have| had)? (?:led to|leads to|resulted in|results in|caused|causes"
    r"|triggered|prompted|sparked)\b))",
    re.IGNORECASE,
)
"""A sentence that begins so states the effect of what was said before it."""
_BACK_CONFIDENCE = 0.7
_UNSURE = re.compile(
    r"\b(?:(?:may|might|could|would) (?:only |just )?(?:be|have been)"
    r"|not|n['’]t|never|nor|neither|maybe|perhaps|possibly|probably|whether|just|only|simply|mainly|partly"
    r"|mostly|may|might|could|would|should|must|will|can|cannot|to|if|likely|unlikely"
    r"|without|of|by|for|from|in|especially|unless)\s*$",
    re.IGNORECASE,
)
_PASSIVE = re.compile(
    r"\b(?:is|are|was|were|be|been|being|get|gets|got|what|who|whatever)(?: \w+ly)?\s*$", re.IGNORECASE
)
_MERELY = re.compile(r"\b(?:just|only|simply|mainly|partly|mostly|largely|in part)\s*$", re.IGNORECASE)
_BREAK = re.compile(
    r"[;:—–]|\s-\s|,\s+(?=(?:and|but|or|which|who|while|whereas|when|where|although|though|so)\b)",
    re.IGNORECASE,
)
_HANGING = re.compile(
    r"(?:[,\s]+(?:which|that|who|and|just|only|simply|mainly|partly|mostly|largely|apparently"
    r"|is|are|was|were|be|been|being|has|have|had))+$",
    re.IGNORECASE,
)
"""What the end of a clause has of the connective after it."""
_COMMA = re.compile(r",\s")
_SPEAKER = re.compile(r"[^\s:.!?][^:.!?\n]{0,40}:\s*")
_LEAST = 2
"""Words that each clause has at least."""


def stated_causes(text: str) -> tuple[StatedCause, ...]:
    """What the sentences of a text say caused what, in order, at most one of each; from its prose alone."""
    shown = prose(text)
    speaker = _SPEAKER.match(shown)
    begin = speaker.end() if speaker else 0
    found, before = [], ""
    for start, end in sentences(shown):
        sentence = " ".join(shown[max(start, begin) : end].split())
        if not sentence:
            continue
        made = of_sentence(sentence)
        if made is not None:
            found.append(made if made.cause else replace(made, cause=_trimmed(before)))
        if len(sentence.split()) > _LEAST:
            before = sentence
    return tuple(found)


def of_sentence(sentence: str) -> StatedCause | None:
    """What one sentence says caused what, by its first connective that joins two clauses; None where none does."""
    if sentence.rstrip("\"'”’)] ").endswith("?"):
        return None
    bare = sentence.lstrip("-*+•>_ \"'“‘(")
    back = _BACK.match(bare)
    if back is not None:
        effect = _clause(bare[back.end() :])
        if len(effect.split()) < _LEAST:
            return None
        return StatedCause(sentence, "", effect, back[0].lower(), _BACK_CONFIDENCE)
    for connective, match in _matches(sentence):
        halves = _halves(sentence, connective, match)
        if halves is not None and min(len(one.split()) for one in halves) >= _LEAST:
            told = " ".join(match[0].lower().split())
            return StatedCause(sentence, *halves, told, connective.confidence)
    return None


def _matches(sentence: str) -> Iterator[tuple[_Connective, re.Match[str]]]:
    """Connectives of a sentence that are asserted, from the left."""
    found = [(one, m) for one in _CONNECTIVES for m in one.pattern.finditer(sentence)]
    for one, match in sorted(found, key=lambda pair: pair[1].start()):
        before = _MERELY.sub("", sentence[: match.start()])
        passive = one.first == "cause" and match[0][0].isalpha() and _PASSIVE.search(before)
        if not _UNSURE.search(before) and not passive:
            yield one, match


def _halves(sentence: str, connective: _Connective, match: re.Match[str]) -> tuple[str, str] | None:
    """The clauses of cause and effect."""
    before, after = sentence[: match.start()], sentence[match.end() :]
    if not any(c.isalnum() for c in before):
        comma = _COMMA.search(after)
        if not connective.opens or comma is None:
            return None
        return _clause(after[: comma.start()]), _clause(after[comma.end() :])
    told = _HANGING.sub("", before.rstrip(" ,"))
    last = _BREAK.split(told)[-1]
    left = _trimmed(last if len(last.split()) >= _LEAST else told)
    right = _clause(after)
    return (left, right) if connective.first == "cause" else (right, left)


def _clause(text: str) -> str:
    """What stands before the next break."""
    return _trimmed(_BREAK.split(text.lstrip(" ,"), maxsplit=1)[0])


def _trimmed(text: str) -> str:
    return text.strip(" \t,;:.!…-–—\"'“”‘’()")
