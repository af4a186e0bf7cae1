"""What each message of a conversation is worth for a query: the fitted evidence of the search, message by message."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from amgs.retrieval.similarity import contributions, fused
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather
from amgs.settings import RetrievalSettings
from amgs.storage.messages import StoredMessage
from amgs.storage.protocol import Storage
from amgs.types import STATUSES, BlockFilter

Worths = NDArray[np.float64]
"""(n,) in [0, 1], one for each message; 0 where nothing speaks for it."""


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
    found = np.zeros(len(messages))
    if not numbers or not any(c.isalnum() for c in query):
        return found
    every = tuple(sorted(numbers.values()))
    request = RetrievalRequest(query, BlockFilter(statuses=STATUSES), within=every, present=every, most=0)
    evidence = gather(request, sources, settings).evidence
    if evidence is None:
        return found
    scores = dict(
        zip(evidence.numbers.tolist(), fused(contributions(evidence).sum(axis=1)).tolist(), strict=True)
    )
    for place, message in enumerate(messages):
        found[place] = max((scores.get(numbers.get(one, -1), 0.0) for one in message.blocks), default=0.0)
    return found
