"""Correct typos: find the indexed stems nearest to a query word that is in no document."""

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
    """A known stem read for an unknown one. closeness: 1 - edits / length, in (0, 1), the weight of its matches."""

    unknown: str
    known: str
    edits: int
    closeness: float


def count_allowed_edits(word: str) -> int:
    """Return how many edits a typo may have: none in numbers and words under 4 letters, 1 up to 7, then 2."""
    return 0 if len(word) < 4 or word.isdigit() else 1 if len(word) <= 7 else 2


_ENDINGS = ("e", "s", "es", "ed", "ing")
"""Endings that a stemmer removes from a correct word, and may leave on a misspelt one."""


def find_corrections(
    unknown: Iterable[str], vocabulary: Mapping[str, int], typed: Mapping[str, str] = MappingProxyType({})
) -> tuple[StemCorrection, ...]:
    """Return the nearest known stems for each unknown stem.

    vocabulary: known stems, with the number of documents that contain them. typed: the word behind a stem, which is
    compared too, with and without its ending. Nearest by optimal string alignment (swapping two adjacent letters is a
    single edit); ties to the commonest, then alphabetically.
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
        # Only the nearest: "dome" must not also be corrected to "done" when "domes" is an edit closer.
        for edits, _, known in [r for r in ranked if r[0] == ranked[0][0]][:MOST_CORRECTIONS]:
            fixes.append(StemCorrection(stem, known, edits, 1.0 - edits / max(len(word), 1)))
    return tuple(fixes)
