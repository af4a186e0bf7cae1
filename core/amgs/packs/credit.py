"""Credit of packs that were read together: how much less likely the answer is where one of them is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from amgs.text.answer_reader import AnswerLosses, AnswerReader

if TYPE_CHECKING:
    from amgs.types import Progress

HELPS = 0.5
"""Nats a token of the answer from which on a pack counts as having helped. Packs without an answer reached up to .45 in
a first dozen readings (docs/results/packs.md), so what is less may be chance; of those with one many stay below.
"""
_BETWEEN = "\n\n"


def left_out(
    parts: Sequence[str],
    question: str,
    answers: Sequence[str],
    reader: AnswerReader,
    progress: Progress | None = None,
) -> AnswerLosses:
    """(n, m), nats a token by which each of m answers loses where one of n parts is left out of the text of all.

    Below 0 where the answer is likelier without the part.
    """
    places = range(
        len(parts) - 1, -1, -1
    )  # from the last, so that each text begins as the one before as long as can be
    texts = [_BETWEEN.join(one for n, one in enumerate(parts) if n != place) for place in places]
    losses = reader.losses([_BETWEEN.join(parts), *texts], question, answers, progress)
    return np.asarray((losses[1:] - losses[:1])[::-1])
