"""A running server for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import httpx2
import pytest

from tests.service.serving import client, served


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("served") / "notes.duckdb") as found:
        yield found


@pytest.fixture(scope="module")
def http(address: str) -> Iterator[httpx2.Client]:
    """A plain client of it."""
    with client(address) as made:
        yield made
