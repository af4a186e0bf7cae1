"""Typo tolerance: the known stems nearest to a word that no document holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

MOST_WORDS = 8
"""Unknown words of one query that are corrected, in the order given."""

MOST_CORRECTIONS = 3
"""Known stems tried for one unknown word."""


@dataclass(frozen=True, slots=True)
class StemCorrection:
    """A known stem for an unknown one. closeness in (0, 1): 1 - edits / length; it weighs what the stem
    finds.
    """

    unknown: str
    known: str
    edits: int
    closeness: float


def edits_allowed(word: str) -> int:
    """Edits that a typo may cost: none in numbers and in words under 4 letters, 1 up to 7, then 2."""
    return 0 if len(word) < 4 or word.isdigit() else 1 if len(word) <= 7 else 2


def corrections(unknown: Iterable[str], vocabulary: Mapping[str, int]) -> tuple[StemCorrection, ...]:
    """For each unknown word the nearest stems of the vocabulary (stem -> documents that hold it).

    Nearest by optimal string alignment (an exchange of two neighbouring letters is one edit); of equally near
    ones the commonest, then the first in the alphabet.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    found: list[StemCorrection] = []
    for word in list(unknown)[:MOST_WORDS]:
        allowed = edits_allowed(word)
        if allowed == 0:
            continue
        near = [stem for stem in vocabulary if abs(len(stem) - len(word)) <= allowed]
        matches = process.extract(word, near, scorer=OSA.distance, score_cutoff=allowed, limit=None)
        ranked = sorted((int(edits), -vocabulary[stem], stem) for stem, edits, _ in matches)
        # Only the nearest: "dome" must not also be found as "done" when "domes" was one edit closer.
        for edits, _, stem in [r for r in ranked if r[0] == ranked[0][0]][:MOST_CORRECTIONS]:
            found.append(StemCorrection(word, stem, edits, 1.0 - edits / max(len(word), 1)))
    return tuple(found)
