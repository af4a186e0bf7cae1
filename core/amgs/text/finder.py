"""Finding a block by a few typed letters: for the block finder and for completion."""

from __future__ import annotations

from collections.abc import Sequence

from rapidfuzz import fuzz, process, utils


def find(outlines: Sequence[tuple[str, str, str]], typed: str, limit: int, *, floor: float = 55.0) -> tuple[str, ...]:
    """Return ids of the blocks whose title or first words fit what was typed, the best first.

    outlines: (id, title, first words). An id that begins with what was typed comes before all others.
    """
    wanted = typed.strip().lower()
    if not wanted:
        return tuple(i for i, _, _ in outlines[::-1][:limit])
    by_id = [i for i, _, _ in outlines if i.startswith(wanted)]
    titles = [title or text.split("\n", 1)[0] for _, title, text in outlines]
    texts = [text for _, _, text in outlines]
    scores: dict[int, float] = {}
    for choices, scorer, share in ((titles, fuzz.WRatio, 1.0), (texts, fuzz.partial_ratio, 0.9)):
        ranked = process.extract(
            wanted,
            choices,
            scorer=scorer,
            processor=utils.default_process,
            limit=min(limit * 3, len(choices)),
            score_cutoff=floor,
        )
        for _, score, row in ranked:
            scores[row] = max(scores.get(row, 0.0), score * share)
    best = sorted(scores, key=lambda row: (-scores[row], row))
    return tuple(dict.fromkeys([*by_id, *(outlines[row][0] for row in best)]))[:limit]
