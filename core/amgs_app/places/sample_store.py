"""The sample's store as it ships: its notes taken in and consolidated, one question asked, the answer in front.

Whoever opens the sample for the first time gets a copy. `sample_build` makes it from the notes, and tells whether it
is still what they give.
"""

from __future__ import annotations

import os
import shutil
import tarfile
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

from amgs_app.places.corpus import SAMPLE_STORE, shipped

ARCHIVE: Final = f"{SAMPLE_STORE}.tar.gz"
FACTS: Final = f"{SAMPLE_STORE}.json"
"""Beside the archive: of which notes, with which models and in which schema it was made."""
STORE: Final = f"{SAMPLE_STORE}.duckdb"

_PARTS: Final = ("", ".wal", ".counter")
"""What of a store may lie there without the rest; it belongs to another one."""


def archive() -> Path:
    """Return where the shipped store lies; it need not be there."""
    return shipped("sample_store") / ARCHIVE


def unpack(store: Path) -> bool:
    """Put a copy of the shipped store, with what belongs to it, at a path in a folder that is there.

    Gives whether that was done: not where the archive is missing or cannot be read, or where the folder has no room or
    may not be written to. What lies there already stays, also where another process puts it there meanwhile.
    """
    if any(os.path.lexists(f"{store}{ending}") for ending in _PARTS):
        return False
    with suppress(OSError, tarfile.TarError, EOFError):
        folder = Path(tempfile.mkdtemp(prefix=f".{store.name}.", dir=store.parent))
        try:
            with tarfile.open(archive()) as packed:
                packed.extractall(folder, filter="data")
            return _put(folder, store)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return False


def _put(folder: Path, store: Path) -> bool:
    """Move what was unpacked to its place, the store itself last: it is whole from the moment it is there."""
    place = store.with_name(f"{store.name}.index")
    with suppress(OSError):  # an index that is there is brought up to date, a missing one made anew
        (folder / f"{STORE}.index").rename(place)
    try:
        os.link(folder / STORE, store)
    except FileExistsError:
        return False
    return True
