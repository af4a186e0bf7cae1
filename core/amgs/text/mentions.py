"""Proper names in a statement, and whether two statements speak of differently named things.

The rules know English capitals and no names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from amgs.text.claims import terms

_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_SMALL = frozenset(("the", "a", "an", "our", "their", "my", "your", "its", "his", "her", "this", "that"))
_PLACED = frozenset(("of", "in", "at", "on", "near", "for", "under", "beside", "above", "below"))
_NO_NAMES = frozenset(
    re.findall(
        r"\w+",
        "i january february march april may june july august september october november december "
        "monday tuesday wednesday thursday friday saturday sunday",
    )
)
_TELLS = re.compile(
    r"(?:sa(?:ys|id)|writes|wrote|t(?:ells|old)|reports?|reported|measure[ds]?|count(?:s|ed)|read|reads|weigh(?:s|ed)"
    r"|checked|noted|thinks|thought|believes|remembers|claims|decide[ds]|agree[ds]|raise[ds]|lower(?:s|ed)|set|sets"
    r"|change[ds]|asks|wants|confirm(?:s|ed)|found)",
    re.IGNORECASE,
)
_BY = re.compile(r"\b(?:by|according to|says|said)\s+$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Mention:
    """A name in a statement. words: its words as `terms` gives them; beside: the words next to it, articles left out.

    qualifies: it tells which thing is meant ("the Orsa mill", "of Orsa", "Ada's"), and is not who does or gets
    something. tells: it names who says, measures or decides, and not what is spoken of.
    """

    words: frozenset[str]
    beside: frozenset[str] = frozenset()
    qualifies: bool = False
    tells: bool = False


@lru_cache(maxsize=4096)
def mentions(sentence: str, known: frozenset[str] = frozenset()) -> tuple[Mention, ...]:
    """Runs of capitalised words, one that opens the sentence only where it is among the known words (of `terms`)."""
    tokens = list(_WORD.finditer(sentence))
    name_mentions, at = [], 0
    while at < len(tokens):
        end = at
        while (
            end < len(tokens)
            and _is_name(tokens, end, sentence, known)
            and (end == at or _is_adjoining(tokens, end, sentence))
        ):
            end += 1
        if end > at:
            name_mentions.append(_mention(tokens, at, end, sentence))
        at = max(end, at + 1)
    return tuple(m for m in name_mentions if m.words)


def differ(
    first: Iterable[Mention], two: Iterable[Mention], around_one: frozenset[str], around_two: frozenset[str]
) -> bool:
    """Return whether two statements name different things: they share no name, or different names stand at the same
    words.

    around_one, around_two: the words (of `terms`) that a statement is read with; a name among them is named there too.
    """
    ours = [m for m in first if not m.tells]
    theirs = [m for m in two if not m.tells]
    only = [m for m in ours if not m.words <= around_two and not any(m.words >= t.words for t in theirs)]
    fresh = [m for m in theirs if not m.words <= around_one and not any(m.words >= o.words for o in ours)]
    if ours and theirs and len(only) == len(ours) and len(fresh) == len(theirs):
        return True
    return any(a.qualifies and b.qualifies and a.beside & b.beside for a in only for b in fresh)


def _is_name(tokens: Sequence[re.Match[str]], at: int, sentence: str, known: frozenset[str]) -> bool:
    word = tokens[at][0]
    if not word[0].isupper() or word.lower() in _NO_NAMES or word.lower() in _SMALL:
        return False
    opens = at == 0 or sentence[tokens[at - 1].end() : tokens[at].start()].strip(" ,;-") != ""
    return not opens or bool(terms(word) & known)


def _is_adjoining(tokens: Sequence[re.Match[str]], at: int, sentence: str) -> bool:
    before = tokens[at - 1]
    return sentence[before.end() : tokens[at].start()] == " " and not before[0].endswith(("'s", "’s"))


def _mention(tokens: Sequence[re.Match[str]], at: int, end: int, sentence: str) -> Mention:
    before = [t[0].lower() for t in tokens[:at]]
    article = bool(before) and before[-1] in _SMALL
    while before and before[-1] in _SMALL:
        before.pop()
    after = tokens[end][0] if end < len(tokens) else ""
    owns = tokens[end - 1][0].endswith(("'s", "’s"))
    placed = bool(before) and before[-1] in _PLACED
    verb = bool(_TELLS.fullmatch(after)) and not article
    has_by = bool(_BY.search(sentence[: tokens[at].start()]))
    near = terms(" ".join([*[w for w in before if terms(w)][-1:], after]))
    return Mention(
        terms(" ".join(t[0] for t in tokens[at:end])),
        near,
        not has_by and (owns or placed or (article and after.islower())),
        verb or has_by,
    )
