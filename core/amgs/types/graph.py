"""What the graph says of a block, of what lies around it, and of itself (AMGS §5.3, §7.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.types.block import Block, Edge


@dataclass(frozen=True, slots=True)
class Centrality:
    """A block's place in the graph; each measure scaled to [0, 1] over the graph."""

    degree: float = 0.0
    eigenvector: float = 0.0
    pagerank: float = 0.0
    betweenness: float = 0.0


@dataclass(frozen=True, slots=True)
class LiveEdge:
    """An edge with its strength at an instant: weight x confidence x relevance."""

    edge: Edge
    strength: float


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """What lies within `hops` of a block: distance by id, the blocks, and the edges among them."""

    center: Block
    hops: int
    distances: Mapping[str, int] = field(hash=False)
    blocks: tuple[Block, ...]
    edges: tuple[LiveEdge, ...]
    centrality: Mapping[str, Centrality] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class GraphStats:
    """Counts and shape of the graph of blocks that are neither archived nor pruned."""

    nodes: int
    edges: int
    density: float
    components: int
    by_relation: Mapping[str, int] = field(default_factory=dict, hash=False)
