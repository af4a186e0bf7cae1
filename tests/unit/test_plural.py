"""Sentences with a count have the right number."""

from __future__ import annotations

import pytest

from amgs.text.plural import plural


@pytest.mark.parametrize(
    ("number", "told"), [(0, "0 categories"), (1, "1 category"), (2, "2 categories"), (1234, "1,234 categories")]
)
def test_one_is_singular_and_all_else_plural(number: int, told: str) -> None:
    assert plural(number, "category", "categories") == told
