"""What each message of a conversation is worth for a query: the fitted evidence of the search, message by message."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from amgs.retrieval.similarity import FEW, SCALE, contributions, fused
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather
from amgs.settings import RetrievalSettings
from amgs.storage.messages import StoredMessage
from amgs.storage.protocol import Storage
from amgs.types import STATUSES, BlockFilter

Worths = NDArray[np.float64]
"""(n,) in [0, 1], one for each message, as a search shows similarity; 0 where nothing speaks for it."""
_LEAST = 1e-6
MIXTURE: Mapping[int, float] = {0: 0.4, 10: 0.3, 40: 0.3}
"""What a message is worth by itself and by what stands around it: messages on either side, and their share.

Chosen by hand among a few; no form of conversation is told apart. See docs/results/conversation.md.
"""


def worths(
    query: str,
    messages: Sequence[StoredMessage],
    storage: Storage,
    sources: Sources,
    settings: RetrievalSettings,
) -> Worths:
    """How likely each message is needed to answer a query; of a long one the best of its pieces counts.

    Every message is weighed, found by a layer of the search or not. All zeros for a query without words.
    """
    numbers = storage.blocks.numbers_of(sorted({one for m in messages for one in m.blocks}))
    nothing = np.zeros(len(messages))
    if not numbers or not any(c.isalnum() for c in query):
        return nothing
    every = tuple(sorted(numbers.values()))
    request = RetrievalRequest(query, BlockFilter(statuses=STATUSES), within=every, present=every, most=0)
    evidence = gather(request, sources, settings).evidence
    if evidence is None:
        return nothing
    shown = fused(contributions(evidence).sum(axis=1))
    found = dict(zip(evidence.numbers.tolist(), shown.tolist(), strict=True))
    return np.array(
        [max((found.get(numbers.get(b, -1), 0.0) for b in m.blocks), default=0.0) for m in messages]
    )


def rates(worths: Sequence[float], costs: Sequence[int], sessions: Sequence[int]) -> NDArray[np.float64]:
    """How likely each message is needed, for each of its tokens, by itself and by what was said around it.

    An answer seldom stands alone: in a meeting it takes many turns, in a chat one or two. So the likelihood of a
    message is mixed with that of its neighbours in the same session, near ones counting more, over the tokens that all
    of them take; a triangle of each reach in MIXTURE.
    """
    shown = np.clip(np.asarray(worths, dtype=np.float64), _LEAST, 1.0 - _LEAST)
    linear = SCALE * np.log(shown / (1.0 - shown)) * (1.0 + FEW / shown.size)  # what `fused` made them of
    likely = np.exp(linear - linear.max())
    likely /= likely.sum()
    cost = np.asarray(costs, dtype=np.float64)
    of = np.asarray(sessions)
    edges = [0, *(np.flatnonzero(np.diff(of)) + 1).tolist(), of.size]
    found = np.zeros(cost.size)
    for reach, share in MIXTURE.items():
        kernel = 1.0 + reach - np.abs(np.arange(-reach, reach + 1))
        for start, stop in pairwise(edges):
            there, taken = (
                np.convolve(values[start:stop], kernel)[reach : reach + stop - start]
                for values in (likely, cost)
            )
            found[start:stop] += share * there / taken
    return found
