"""Signed scores of a working context's positions, as a scorer gives them and the allocator takes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from amgs_focus.records import NodeRef
from amgs_focus.window.working_context import WorkingContext

Values = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Scores:
    """Signed utilities in [-1, 1], one a position without the sinks (N = W − 4), as `WorkingContext.pack`
    lays out.

    Positive asks for more detail, negative for less. parts: named summands, each (N,). question_share: share of the
    question's words in the block before the tail that holds most of them; None where no words were looked for.
    inside: level-1 gists whose blocks are wanted though a coarser gist stands for them, each with the score of the
    block; that of the entry is then the greatest of them.
    """

    values: Values
    parts: Mapping[str, Values]
    question_share: float | None = None
    inside: Mapping[NodeRef, float] = field(default_factory=dict)


def aggregate(context: WorkingContext, values: Values) -> Values:
    """(N,) scores a position -> (entries,): the mean over each entry's positions."""
    costs = np.array([entry.cost for entry in context.entries()], dtype=np.int64)
    if not len(costs):
        return np.zeros(0)
    starts = np.concatenate([[0], np.cumsum(costs)[:-1]])
    means: Values = np.add.reduceat(np.asarray(values, np.float64), starts) / costs
    return means
