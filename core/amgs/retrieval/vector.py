"""Layer 4: cosine of the query's embedding with every allowed block's."""

from __future__ import annotations

from collections.abc import Mapping

from amgs.index.vector import VectorIndex
from amgs.model import Vector
from amgs.retrieval.ports import Numbers


def vector(query: Vector, index: VectorIndex, allowed: Numbers, limit: int) -> Mapping[int, float]:
    """Cosine by number of the best blocks; query is (d,). What points away from the query (cosine <= 0) is no
    hit.
    """
    return {number: cosine for number, cosine in index.search(query, limit, allowed) if cosine > 0.0}
