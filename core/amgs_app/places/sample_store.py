"""The shipped store of the sample: notes consolidated, one question asked and answered.

Opening the sample for the first time copies it. The script `sample_build` makes it and checks that it is up to date.
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
"""File beside the archive that says from which notes, models and schema it was made."""
STORE: Final = f"{SAMPLE_STORE}.duckdb"

_PARTS: Final = ("", ".wal", ".counter")
"""Endings of files that belong to a store; any of them at the target means that a store is, or was, there."""


def archive() -> Path:
    """Return the path of the shipped store; it may be missing."""
    return shipped("sample_store") / ARCHIVE


def unpack(store: Path) -> bool:
    """Copy the shipped store to a path; return whether that was done.

    False if the archive is missing or unreadable, the folder is full or not writable, or a store is there already, even
    if another process puts it there meanwhile.
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
    """Move the unpacked files to their place, the store itself last, so that it is complete once it is visible."""
    place = store.with_name(f"{store.name}.index")
    with suppress(OSError):  # an index that is there is brought up to date, a missing one made anew
        (folder / f"{STORE}.index").rename(place)
    try:
        os.link(folder / STORE, store)
    except FileExistsError:
        return False
    return True
