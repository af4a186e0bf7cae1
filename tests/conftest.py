"""What every test can rely on: no user's files, no settings from outside, the same draws each time."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.postgres_server import running_server
from tests.safety.hostile.draws import Draws

ROOT = Path(__file__).parents[1]

# Hundreds of processes are begun: what the first one compiles is there for the rest.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# Two processes with as many threads as there are cores each would wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")

# Machines of continuous integration are slow and shared: how long an example takes says nothing here.
# The ordinary run draws the same each time; `make explore`, and whoever gives a seed, draws anew.
settings.register_profile("workstation", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("reseeded", deadline=None, max_examples=25)
settings.register_profile("explore", deadline=None, max_examples=200, print_blob=True)
settings.load_profile("workstation")
HOSTILE_DRAWS = 60
SCHEDULED = frozenset(("tui", "service", "gateway", "golden", "safety"))
"""Folders of tests that drive a screen, a server or a process, those of wings too."""
REAL, BUSY = 30, 4
"""How many plain tests one with a real model is as long as, and one that drives a screen or a server, about."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--hostile", type=int, metavar="N", help="draws of each hostile harness: 60")
    parser.addoption("--slow", action="store_true", help="run the tests that take minutes too")


def pytest_configure(config: pytest.Config) -> None:
    """A seed would be ignored by a profile that draws the same each time."""
    if config.getoption("--hypothesis-seed", None) is not None:
        settings.load_profile("explore" if config.getoption("--hostile") else "reseeded")
    config.option.loadscopereorder = False  # the order of the files is that given below


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a running PostgreSQL."""
    with running_server() as address:
        yield address


@pytest.fixture
def draws(request: pytest.FixtureRequest) -> Draws:
    """The random draws of a hostile harness: the same each time unless a seed is given."""
    seed = request.config.getoption("--hypothesis-seed", None)
    count = request.config.getoption("--hostile") or HOSTILE_DRAWS
    return Draws(count, seed or "0")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several processes share the files, the long ones come first, so that they end together."""
    if not hasattr(config, "workerinput"):
        return
    lengths = Counter[Path]()
    for item in items:
        scheduled = not SCHEDULED.isdisjoint(item.path.relative_to(ROOT).parts)
        lengths[item.path] += REAL if item.get_closest_marker("real") else BUSY if scheduled else 1
    items.sort(key=lambda item: -lengths[item.path])


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
