"""What every test can rely on: no user's files, no settings from outside, the same draws each time."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ROOT = Path(__file__).parents[1]

# Machines of continuous integration are slow and shared: how long an example takes says nothing here.
settings.register_profile("workstation", deadline=None, max_examples=60)
settings.load_profile("workstation")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--run-benches", action="store_true", help="run the benchmarks in tests/bench too")
    parser.addoption("--slow", action="store_true", help="run the tests that take minutes too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Benchmarks are measured on demand, not on every run."""
    if config.getoption("--run-benches"):
        return
    skip = pytest.mark.skip(reason="a benchmark: give --run-benches")
    for item in items:
        if ROOT / "tests" / "bench" in item.path.parents:
            item.add_marker(skip)


@pytest.fixture(scope="session", autouse=True)
def _a_user_of_its_own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Stores, history, settings and caches of the tests lie in a folder that is thrown away."""
    home = tmp_path_factory.mktemp("user")
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("AMGS_")]:
            patch.delenv(name)
        for name in ("DATA", "CONFIG", "CACHE", "STATE"):
            patch.setenv(f"XDG_{name}_HOME", str(home / name.lower()))
        yield
