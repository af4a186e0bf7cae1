"""The command line of `headless_world` on a copy of its store, for the tests of this folder that take `amgs`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tui import real_world
from tests.tui.headless_world import Amgs, make, prepare


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The store that is copied; nobody writes to it."""
    return prepare(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def amgs(tmp_path: Path, prepared: Path, capsys: pytest.CaptureFixture[str]) -> Amgs:
    """The command line on a consolidated store."""
    return make(tmp_path, capsys, prepared)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """A folder of four notes."""
    return real_world.write_notes(tmp_path / "notes")
