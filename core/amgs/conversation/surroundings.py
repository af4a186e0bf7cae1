"""What stands around a message: values spread over their neighbours, as far as a topic of the session reaches.

People divide a talk at the grain of the whole (`expected_topics`), so the reach follows from the length of the session
and not from its form: a few messages of a chat, a hundred of a meeting.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from amgs.conversation.boundaries import expected_topics

Floats = NDArray[np.float64]


def spread(
    values: NDArray[np.floating[Any]],
    sessions: Sequence[int] | NDArray[np.int64],
    before: float,
    after: float,
) -> Floats:
    """(n, …): each message's values spread over those around it in its session, less with each step, to 0.

    values: (n,) or (n, d). sessions: of each message its session, neighbours together. before, after: how far back and
    ahead, in expected topics of the session. Linear in n: a kernel of straight lines is the sum of its bends, summed
    twice.
    """
    given = np.asarray(values, dtype=np.float64)
    made = np.zeros_like(given)
    of = np.asarray(sessions)
    edges = [0, *(np.flatnonzero(np.diff(of)) + 1).tolist(), of.size]
    for start, stop in pairwise(edges):
        size = stop - start
        topic = size / expected_topics(size)
        back, ahead = round(before * topic) + 1, round(after * topic) + 1
        bends = np.zeros((back + size + ahead, *given.shape[1:]))
        bends[:size] += given[start:stop] / back
        bends[back : back + size] -= given[start:stop] * (1.0 / back + 1.0 / ahead)
        bends[back + ahead :] += given[start:stop] / ahead
        lines = np.cumsum(np.cumsum(bends, axis=0), axis=0)
        made[start:stop] = lines[back - 1 : back - 1 + size]
    return made
