"""Find the successor of a text after its source was rewritten, by its words, heading and position; for `revision`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from amgs.text.stop_words import COMMON_WORDS

_WORD = re.compile(r"\w+")
_COMMON = frozenset(COMMON_WORDS)
_IN_PLACE = 0.15
"""Share of words from which a text in the same position, or under the same heading, is a successor."""
_ELSEWHERE = 0.45
"""Share of words from which a text in any other place is a successor."""


@dataclass(frozen=True, slots=True)
class HeldText:
    """A text of a source. title: its own, or that of the heading above it."""

    block_id: str
    source: str
    content: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Succession:
    """The successor of a text, by id. share: of the words that both have, in [0, 1]. because: the reason in words."""

    successor: str
    share: float
    because: str


def find_successors(
    lost: Sequence[HeldText],
    gained: Sequence[HeldText],
    before: Mapping[str, Sequence[str]],
    after: Mapping[str, Sequence[str]],
) -> dict[str, Succession]:
    """Return the successor of each lost text that has one, by id; several texts may have the same.

    lost, gained: texts that left their sources, and new ones. before, after: ids of each source's texts in order.
    """
    aligned = {
        (source, old): new for source, ids in before.items() for old, new in _align_texts(ids, after.get(source, ()))
    }
    words = {piece.block_id: _words(piece.content) for piece in (*lost, *gained)}
    holders: dict[str, list[int]] = {}
    for row, piece in enumerate(gained):
        for word in words[piece.block_id]:
            holders.setdefault(word, []).append(row)
    of_source: dict[str, list[int]] = {}
    for row, piece in enumerate(gained):
        of_source.setdefault(piece.source, []).append(row)
    heirs: dict[str, Succession] = {}
    for piece in lost:
        own = words[piece.block_id]
        rows = dict.fromkeys(of_source.get(piece.source, ()))
        rows |= dict.fromkeys(r for word in sorted(own) for r in holders.get(word, ())[:_MOST_HOLDERS])
        best = max(
            (
                judgement
                for judgement in (_judge_succession(piece, gained[row], own, words, aligned) for row in rows)
                if judgement is not None
            ),
            key=lambda judgement: (judgement[0], judgement[1].share, judgement[1].successor),
            default=None,
        )
        if best is not None and (piece.block_id not in heirs or best[1].share > heirs[piece.block_id].share):
            heirs[piece.block_id] = best[1]
    return heirs


_MOST_HOLDERS = 40


def _judge_succession(
    old: HeldText,
    new: HeldText,
    own: frozenset[str],
    words: Mapping[str, frozenset[str]],
    aligned: Mapping[tuple[str, str], frozenset[str]],
) -> tuple[float, Succession] | None:
    """Return how well a new text fits as successor, and the succession; None where it does not."""
    share = _word_share(own, words[new.block_id])
    same_source = old.source == new.source
    in_place = same_source and new.block_id in aligned.get((old.source, old.block_id), ())
    heading = same_source and bool(old.title) and old.title == new.title
    if share < (_IN_PLACE if in_place or heading else _ELSEWHERE):
        return None
    where = "in its place" if in_place else "under its heading" if heading else ""
    reason = ", ".join(part for part in (where, f"{share:.0%} of the words") if part)
    return share + 0.3 * in_place + 0.2 * heading + 0.1 * same_source, Succession(new.block_id, share, reason)


def _word_share(words: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of words that two texts have in common, in [0, 1]: of all words, or 0.8 of the share of the
    shorter text's, whichever is more.
    """
    common = len(words & other)
    if not common:
        return 0.0
    return max(common / len(words | other), 0.8 * common / min(len(words), len(other)))


def _words(text: str) -> frozenset[str]:
    words = frozenset(_WORD.findall(text.lower()))
    return words - _COMMON or words


def _align_texts(before: Sequence[str], after: Sequence[str]) -> Iterable[tuple[str, frozenset[str]]]:
    """Yield each removed text with the texts that now stand between its remaining neighbours."""
    if not after:
        return
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag == "replace":
            for old in before[i1:i2]:
                yield old, frozenset(after[j1:j2])
