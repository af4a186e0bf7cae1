"""The backends: every test in this folder that takes `storage` runs on each. A new backend is one more entry here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from amgs.storage.opening import MEMORY, open_storage
from amgs.storage.store import Storage
from tests.postgres_server import namespace

Place = Callable[[pytest.FixtureRequest, Path], str]
"""Where a test's store lies, given the test and a folder of its own."""

KEPT: dict[str, Place] = {
    "duckdb on disk": lambda _, folder: str(folder / "store.duckdb"),
    "postgres": lambda request, _: namespace(request.getfixturevalue("postgres")),
}
"""Backends whose stores can be closed and opened again."""
BACKENDS: dict[str, Place] = {**KEPT, "duckdb in memory": lambda *_: MEMORY}


@pytest.fixture(params=BACKENDS)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Storage]:
    """A new store of each backend, open for writing."""
    with open_storage(BACKENDS[request.param](request, tmp_path)) as opened:
        yield opened


@pytest.fixture(params=KEPT)
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store of each backend that keeps it may be made, and opened again."""
    return KEPT[request.param](request, tmp_path)
