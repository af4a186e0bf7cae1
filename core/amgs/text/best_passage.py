"""Choose the passage of a text that matches a query best: the sentences with most of the query's words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

SENTENCE = re.compile(r"[^\s].*?(?:[.!?](?=\s|$)|[。！？]|(?=\n)|$)", re.DOTALL)
_SHORTEST = 12


@dataclass(frozen=True, slots=True)
class Match:
    """Characters [start, end) of a text that match a term of the query. weight: of the term."""

    start: int
    end: int
    term: str
    weight: float = 1.0


def best_passage(text: str, matches: Sequence[Match], most: int) -> tuple[int, int]:
    """Return the characters [start, end) of the best passage of at most `most` characters.

    It has whole sentences where they are short enough, else whole words. The best has the greatest weight of distinct
    terms, ties to the earliest; without a match it is the text's beginning.
    """
    bare = len(text) - len(text.lstrip())
    if len(text.strip()) <= most:
        return (bare, len(text.rstrip())) if text.strip() else (0, 0)
    pieces = [piece for sentence in SENTENCE.finditer(text) for piece in _short(text, *sentence.span(), most)]
    best, chosen = -1.0, (bare, bare)
    for first, (start, stop) in enumerate(pieces):
        if first and not any(start <= m.start < stop for m in matches):
            continue
        end = max(piece_end for _, piece_end in pieces[first:] if piece_end - start <= most)
        terms = {m.term: m.weight for m in matches if start <= m.start and m.end <= end}
        weight = sum(terms.values())
        if weight > best:
            best, chosen = weight, (start, end)
    return _extend_start(chosen, pieces, most)


def _short(text: str, start: int, end: int, most: int) -> list[tuple[int, int]]:
    """Return a sentence cut at blanks into pieces of half of what is wanted, where it is longer than all of it."""
    pieces = []
    while end - start > most:
        step = max(most // 2, _SHORTEST)
        blank = max(text.rfind(" ", start + 1, start + step), text.rfind("\n", start + 1, start + step))
        stop = blank if blank > start else start + min(step, most)
        pieces.append((start, stop))
        start = stop + (blank > start)
    return [*pieces, (start, end)]


def _extend_start(chosen: tuple[int, int], pieces: Sequence[tuple[int, int]], most: int) -> tuple[int, int]:
    """Return the same with what stands before, as far as there is room: at the end of a text, after the last match."""
    start, end = chosen
    return min((first for first, _ in pieces if first <= start and end - first <= most), default=start), end
