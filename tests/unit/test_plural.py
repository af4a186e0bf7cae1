"""Sentences with a count have the right number."""

from __future__ import annotations

import pytest

from amgs.api.health import of_diversity, of_graph
from amgs.text.plural import plural


@pytest.mark.parametrize(
    ("number", "told"),
    [(0, "0 categories"), (1, "1 category"), (2, "2 categories"), (1234, "1,234 categories")],
)
def test_one_is_singular_and_all_else_plural(number: int, told: str) -> None:
    assert plural(number, "category", "categories") == told


def test_health_of_one_block_is_said_in_the_singular() -> None:
    assert "over 1 category, 100% note" in of_diversity({"note": 1}).told
    assert of_graph(1, 1, 1, 0).told == "1 block alone, 0% of 1 edge faded"
