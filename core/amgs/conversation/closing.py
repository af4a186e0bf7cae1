"""Whether a later sentence tells that something promised, wanted or asked for was done: by its verb and its object."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from amgs.conversation.cohesion import stems
from amgs.text.sentences import sentences

_IRREGULAR = (
    "begin began begun|bring brought|build built|buy bought|catch caught|choose chose chosen|come came|cut|"
    "do did done|draw drew drawn|drink drank drunk|drive drove driven|eat ate eaten|find found|fly flew flown|"
    "get got gotten|give gave given|go went gone|grow grew grown|hear heard|hold held|keep kept|lead led|leave left|"
    "lose lost|make made|meet met|pay paid|put|quit|read|run ran|see saw seen|sell sold|send sent|set|"
    "show showed shown|sing sang sung|speak spoke spoken|spend spent|split|swim swam swum|take took taken|"
    "teach taught|tell told|think thought|throw threw thrown|win won|write wrote written"
)
_BASE = {form: forms[0] for forms in map(str.split, _IRREGULAR.split("|")) for form in (forms[1:] or forms)}
_TOLD = re.compile(
    r"\b(?:i|we)(?:'?ve| have|'d| had)?(?: (?:\w+ly|just|already|also|even|then|now))* (\w+)"
    r"|^\W*(?:(?:so|well|oh|ok|okay|yes|yeah|and|just|finally|also)\W+)*(\w+)",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"\b(?:(?:managed|got|able|had|went|came) to|ended up|finished|done)\s+(\w+)", re.IGNORECASE
)
_DONE = re.compile(
    r"\b(?:done|finished|complete[d]?|fixed|sent|bought|booked|merged|shipped|deployed|submitted)\b",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(
    r"\b(?:not|never|almost|about to|used to|will|would|should|if|until|wanted|(?:\w+n't)|(?:did|have|was)nt)\b",
    re.IGNORECASE,
)
_SHARE = 0.35
"""So much of what an act is about, weighed by rarity, a sentence that says its verb in the past has to name."""
_SHARE_OF_DONE, _WORDS = 0.5, 2
"""The same, and so many words, for a sentence that says only that something is done."""
_SHARE_OF_COMMON = 0.8
"""The same where none of the words that they share is rare."""
_RARE = 0.02
"""In so many of the messages, or in three, a word is rare."""


@dataclass(frozen=True, slots=True)
class _Report:
    place: int
    verbs: frozenset[str]
    words: frozenset[str]
    done: bool


class Reports:
    """The sentences of n messages that tell of something done."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._among = Counter(stem for text in texts for stem in stems(text))
        self._messages = len(texts)
        self._told = [one for place, text in enumerate(texts) for one in _reports(place, text)]
        self._naming: dict[str, list[int]] = {}
        for number, one in enumerate(self._told):
            for word in one.words:
                self._naming.setdefault(word, []).append(number)

    def closing(
        self, verb: str, about: str, after: int, speakers: Sequence[str], *, by_another: bool
    ) -> int | None:
        """The first place after one at which it is told that `verb` was done to what a text is about; None where it is
        not told. It is told by who speaks at `after`, or by another.
        """
        wanted = set(stems(about)) - {base(verb)}
        rare = {stem for stem in wanted if self._among[stem] <= max(3.0, _RARE * self._messages)}
        whole = sum(map(self._weight, wanted))
        for number in sorted({number for word in wanted for number in self._naming.get(word, ())}):
            one = self._told[number]
            if one.place <= after or (speakers[one.place] == speakers[after]) == by_another:
                continue
            shared = wanted & one.words
            share = sum(map(self._weight, shared)) / whole
            if base(verb) in one.verbs:
                enough = share >= (_SHARE if rare & shared else _SHARE_OF_COMMON)
            else:
                enough = one.done and len(shared) >= _WORDS and share >= _SHARE_OF_DONE
            if enough:
                return one.place
        return None

    def _weight(self, stem: str) -> float:
        return math.log((self._messages + 1) / max(1, self._among[stem]))


def base(verb: str) -> str:
    """A verb without its endings: "sent", "sending", "send" are one."""
    lower = verb.lower()
    return _BASE.get(lower) or next(iter(stems(lower)), lower)


def _reports(place: int, text: str) -> list[_Report]:
    found = []
    for start, end in sentences(text):
        sentence = text[start:end].replace("’", "'")
        if sentence.endswith("?") or _NOT_DONE.search(sentence):
            continue
        said = [told[1] or told[2] for told in _TOLD.finditer(sentence)]
        verbs = {base(word) for word in said if word.lower() in _BASE or word.lower().endswith("ed")}
        verbs |= {base(told[1]) for told in _INSTEAD.finditer(sentence)}
        done = _DONE.search(sentence) is not None
        if verbs or done:
            found.append(_Report(place, frozenset(verbs), frozenset(stems(sentence)), done))
    return found
