"""A server that keeps what it was sent, and gateways to it: one of each for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.gateway.recorder import Recorder, gateway, recorder


@pytest.fixture(scope="module")
def upstream() -> Iterator[Recorder]:
    with recorder() as made:
        yield made


@pytest.fixture
def fresh(upstream: Recorder) -> Recorder:
    """The server, with nothing recorded."""
    upstream.clear()
    return upstream


@pytest.fixture(scope="module")
def observing(upstream: Recorder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with gateway(upstream.address, store=tmp_path_factory.mktemp("observing") / "a.duckdb") as address:
        yield address


@pytest.fixture(scope="module")
def limited(upstream: Recorder, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with gateway(upstream.address, 400, tmp_path_factory.mktemp("limited") / "a.duckdb") as address:
        yield address
