"""Layer 4: cosine of the query's embedding with every allowed block's."""

from __future__ import annotations

from collections.abc import Mapping

from amgs.index.vector import QueryVectors


def vector(comparison: QueryVectors, limit: int) -> Mapping[int, float]:
    """Cosine by number of the best blocks. What points away from the query (cosine <= 0) is no hit."""
    return {number: cosine for number, cosine in comparison.best(limit) if cosine > 0.0}
