"""Which texts of two packs say the same, and which only look as if they did."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from rapidfuzz import fuzz, utils

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_SAME = 90.0
"""Ratio of characters, in percent, from which two texts are of one wording."""
_SPELLING = 80.0
"""Ratio from which two words may be spellings of one."""


@dataclass(frozen=True, slots=True)
class PackLikeness:
    """How far the members of two packs say the same. same: pairs of members, of the first and the second; differing:
    pairs of one wording that say different things.
    """

    same: int
    differing: int
    first: int
    second: int

    @property
    def jaccard(self) -> float:
        """Of all members the share that both have."""
        return self.same / max(self.first + self.second - self.same, 1)

    @property
    def containment(self) -> float:
        """Of the members of the smaller one the share that the other has too."""
        return self.same / max(min(self.first, self.second), 1)


def likeness(first: Mapping[str, str], second: Mapping[str, str]) -> PackLikeness:
    """Of the texts of two packs, by block: those that both have, then the most alike of the others, one to one."""
    same = len(first.keys() & second.keys())
    left = [text for block, text in first.items() if block not in second]
    right = [text for block, text in second.items() if block not in first]
    near = sorted(
        (-ratio, i, j)
        for i, a in enumerate(left)
        for j, b in enumerate(right)
        if (ratio := fuzz.ratio(a, b, processor=utils.default_process, score_cutoff=_SAME)) > 0
    )
    taken: set[tuple[int, int]] = set()
    differing = 0
    for _, i, j in near:
        if (0, i) in taken or (1, j) in taken:
            continue
        taken |= {(0, i), (1, j)}
        if contradict(left[i], right[j]):
            differing += 1
        else:
            same += 1
    return PackLikeness(same, differing, len(first), len(second))


def contradict(one: str, other: str) -> bool:
    """Whether two texts of one wording say different things: a word by which they differ is more than a slip in
    spelling a word of the other text. A number, and what begins with a capital letter, is never a slip.
    """
    a, b = (_WORD.findall(text) for text in (one, other))
    fewer, more = (Counter(word.lower() for word in words) for words in (a, b))
    left, right = list((fewer - more).elements()), list((more - fewer).elements())
    names = {word.lower() for word in (*a, *b) if word[:1].isupper() or any(c.isdigit() for c in word)}
    if len(left) != len(right) or not names.isdisjoint((*left, *right)):
        return True
    for word in left:
        slips = [each for each in right if len(word) > 4 and fuzz.ratio(word, each) >= _SPELLING]
        if not slips:
            return True
        right.remove(slips[0])
    return False
