"""Typo tolerance: the known stems nearest to a word that no document holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

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


def count_allowed_edits(word: str) -> int:
    """Edits that a typo may cost: none in numbers and in words under 4 letters, 1 up to 7, then 2."""
    return 0 if len(word) < 4 or word.isdigit() else 1 if len(word) <= 7 else 2


_ENDINGS = ("e", "s", "es", "ed", "ing")
"""What a stemmer takes off a word that is spelt right, and may leave on one that is not."""


def corrections(
    unknown: Iterable[str], vocabulary: Mapping[str, int], typed: Mapping[str, str] = MappingProxyType({})
) -> tuple[StemCorrection, ...]:
    """For each unknown stem the nearest stems of the vocabulary (stem -> documents that hold it). typed: the word that
    a stem was made of, which is compared as well, with and without its ending.

    Nearest by optimal string alignment (an exchange of two neighbouring letters is one edit); of equally near
    ones the commonest, then the first in the alphabet.
    """
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    fixes: list[StemCorrection] = []
    for stem in list(unknown)[:MOST_WORDS]:
        word = typed.get(stem, stem)
        edits_to: dict[str, int] = {}
        for form in {stem, word, *(word[: -len(end)] for end in _ENDINGS if word.endswith(end))}:
            if allowed := count_allowed_edits(form):
                near = [known for known in vocabulary if abs(len(known) - len(form)) <= allowed]
                matches = process.extract(form, near, scorer=OSA.distance, score_cutoff=allowed, limit=None)
                for known, edits, _ in matches:
                    edits_to[known] = min(max(int(edits), 1), edits_to.get(known, allowed))
        ranked = sorted((edits, -vocabulary[known], known) for known, edits in edits_to.items())
        # Only the nearest: "dome" must not also be found as "done" when "domes" was one edit closer.
        for edits, _, known in [r for r in ranked if r[0] == ranked[0][0]][:MOST_CORRECTIONS]:
            fixes.append(StemCorrection(stem, known, edits, 1.0 - edits / max(len(word), 1)))
    return tuple(fixes)
