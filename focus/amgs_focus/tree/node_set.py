"""Sets of gist-tree nodes, stored as runs of neighbours: what is forgotten comes in long runs, however long the
lifetime.
"""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import NamedTuple

from amgs_focus.records import NodeRef

DEEPEST = 64
"""Greatest level accepted; no lifetime has so many."""


class NodeRun(NamedTuple):
    """Nodes [first, stop) of a level."""

    level: int
    first: int
    stop: int


@dataclass(frozen=True, slots=True)
class NodeSet:
    """An immutable set of nodes. Runs are sorted and neither touch nor overlap, so equal sets are equal values."""

    runs: tuple[NodeRun, ...] = ()

    @classmethod
    def of(cls, nodes: Iterable[NodeRef]) -> NodeSet:
        return cls.join(NodeRun(node.level, node.index, node.index + 1) for node in nodes)

    @classmethod
    def join(cls, runs: Iterable[Sequence[int]]) -> NodeSet:
        """Return the union of runs in any order; empty runs are skipped.

        Raises ValueError for a level outside [1, 64] or a negative index.
        """
        merged: list[NodeRun] = []
        for run in sorted(NodeRun(*map(int, numbers)) for numbers in runs):
            if not 1 <= run.level <= DEEPEST or run.first < 0:
                raise ValueError(f"{run} is no run of gists")
            if run.stop <= run.first:
                continue
            if merged and merged[-1].level == run.level and run.first <= merged[-1].stop:
                last = merged.pop()
                run = NodeRun(run.level, last.first, max(last.stop, run.stop))
            merged.append(run)
        return cls(tuple(merged))

    def __contains__(self, node: object) -> bool:
        if not isinstance(node, NodeRef):
            return False
        at = bisect.bisect_right(self.runs, (node.level, node.index, float("inf"))) - 1
        return at >= 0 and self.runs[at].level == node.level and node.index < self.runs[at].stop

    def __iter__(self) -> Iterator[NodeRef]:
        return (NodeRef(run.level, index) for run in self.runs for index in range(run.first, run.stop))

    def __len__(self) -> int:
        return sum(run.stop - run.first for run in self.runs)

    def __or__(self, other: NodeSet) -> NodeSet:
        return NodeSet.join((*self.runs, *other.runs))

    def __sub__(self, other: NodeSet) -> NodeSet:
        remainder: list[NodeRun] = []
        for run in self.runs:
            first = run.first
            for removed in other.runs:
                if removed.level != run.level or removed.stop <= first or removed.first >= run.stop:
                    continue
                remainder.append(NodeRun(run.level, first, removed.first))
                first = max(first, removed.stop)
            remainder.append(NodeRun(run.level, first, run.stop))
        return NodeSet.join(remainder)

    def __and__(self, other: NodeSet) -> NodeSet:
        return self - (self - other)

    def within(self, length: int, block_size: int) -> NodeSet:
        """Return the nodes that lie wholly in the first `length` tokens."""
        return NodeSet.join((run.level, run.first, min(run.stop, length // block_size**run.level)) for run in self.runs)

    def levels(self) -> dict[int, int]:
        """Return the number of nodes at each level."""
        return {
            level: sum(run.stop - run.first for run in runs)
            for level, runs in groupby(self.runs, key=lambda run: run.level)
        }


NOTHING = NodeSet()
