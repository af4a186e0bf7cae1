"""Every test in this folder that takes `storage` runs on a file and in memory, and in `make safety` on PostgreSQL
(tests/safety/postgres/test_contract.py).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from amgs.storage.opening import MEMORY, open_storage
from amgs.storage.store import Storage


@pytest.fixture
def place(tmp_path: Path) -> str:
    """Where a store that is kept may be made, and opened again."""
    return str(tmp_path / "store.duckdb")


@pytest.fixture(params=["on disk", "in memory"])
def storage(request: pytest.FixtureRequest, place: str) -> Iterator[Storage]:
    """A new store, open for writing."""
    with open_storage(place if request.param == "on disk" else MEMORY) as opened:
        yield opened
