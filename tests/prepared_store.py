"""Stores that are made once a process and copied: taking notes in and consolidating them costs 250 ms, a copy one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from functools import cache
from itertools import count
from pathlib import Path

from amgs.memory import Memory

_ROOM = tempfile.TemporaryDirectory(prefix="amgs-prepared-stores-")
_NUMBERS = count()


@cache
def _prepare(make: Callable[[Path], Memory]) -> Path:
    folder = Path(_ROOM.name) / f"made-{next(_NUMBERS)}"
    folder.mkdir()
    make(folder / "store.duckdb").close()
    return folder


def copy_store(make: Callable[[Path], Memory], path: Path | str | None = None) -> Path:
    """Copy the closed store that `make` makes, with all that lies beside it, to a free path; without one to a
    folder of its own, which goes with the process."""
    if path is None:
        path = Path(_ROOM.name) / f"copy-{next(_NUMBERS)}" / "store.duckdb"
        path.parent.mkdir()
    for source in _prepare(make).iterdir():
        target = Path(path).parent / source.name.replace("store.duckdb", Path(path).name)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    return Path(path)
