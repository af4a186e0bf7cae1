"""Terms of several common nouns, as "job interview": what a conversation is on that has no name."""

from __future__ import annotations

from collections.abc import Iterator

from amgs.conversation.references import SpokenPassage

_COMMON = frozenset({"NN", "NNS"})


def concepts_in(read: SpokenPassage) -> Iterator[tuple[int, int, int, str]]:
    """(start, end, turn, normal form) of runs of common nouns that belong to the last of them."""
    passage = read.passage
    for number, turn in enumerate(passage.turns):
        at = turn.words.start
        while at < turn.words.stop:
            last = at
            while (
                last + 1 < turn.words.stop
                and passage.words[last].role == "compound"
                and _common(read, last)
                and _common(read, last + 1)
                and passage.words[last + 1].start == passage.words[last].end + 1
            ):
                last += 1
            if last > at:
                words = [passage.words[i].text.lower() for i in range(at, last + 1)]
                if passage.words[last].tag == "NNS":
                    words[-1] = _singular(words[-1])
                yield passage.words[at].start, passage.words[last].end, number, " ".join(words)
            at = last + 1


def _common(read: SpokenPassage, at: int) -> bool:
    word = read.passage.words[at]
    return word.tag in _COMMON and word.text.isalpha() and word.text.islower() and len(word.text) > 2


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith("ss") else word
