"""Default locations of stores, checkpoints and unpacked models; the store that a run works on, and the address
that serves it.

A server writes the address into a file beside the store, and holds a lock on the file. The system lets go of the lock
when the server ends, however it ends, so that an address is never told of one that is gone.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, TYPE_CHECKING

from amgs.errors import StoreError
from amgs_app.places.corpus import Corpus
from amgs_app.places.paths import check_place

if TYPE_CHECKING:
    from amgs_app.settings import PathSettings


def data_folder(paths: PathSettings) -> Path:
    """Return where stores and the shell's history live: the folder in the settings, else the user's data folder."""
    folder = _own_folder(paths)
    if not folder.is_absolute():  # a `~` that nothing stands for
        raise StoreError("There is no home folder for a memory: HOME is not set.", way_out="Set HOME.", about="place")
    return folder


def _own_folder(paths: PathSettings) -> Path:
    import platformdirs

    if paths.data:
        return Path(paths.data).expanduser()
    return Path(platformdirs.user_data_dir("amgs", appauthor=False))


def checkpoint_folder(paths: PathSettings) -> Path:
    """Return where the user's own checkpoints are looked for; it need not be there."""
    return Path(paths.checkpoints).expanduser() if paths.checkpoints else _own_folder(paths) / "checkpoints"


def model_cache(paths: PathSettings) -> Path | None:
    """Return where unpacked models are kept; None where the settings switch that off."""
    import platformdirs

    if paths.cache.lower() == "off":
        return None
    if paths.cache:
        return Path(paths.cache).expanduser()
    folder = Path(platformdirs.user_cache_dir("amgs", appauthor=False))
    return folder / "models" if folder.is_absolute() else None


OWN_STORE = "memory.duckdb"
"""The user's own memory in the data folder: what commands work on that name neither a store nor a corpus."""


def find_store(
    named: str | None, corpus: Corpus, paths: PathSettings, *, own: bool, corpus_is_named: bool
) -> Path | str:
    """Return what --store names, else in the user's data folder: the store of --corpus, else the user's own memory once
    there is one, else the sample's. own: the user's own memory even where it is not there yet. Raises UsageError for a
    name that is no place.
    """
    if named is not None:
        from amgs.storage.opening import MEMORY, is_address

        if named == MEMORY or is_address(named):
            return named
        check_place(Path(named), example="notes")
        return Path(named)
    folder = data_folder(paths)
    if not corpus_is_named and (own or os.path.exists(folder / OWN_STORE)):  # noqa: PTH110 - False where it may not look
        return folder / OWN_STORE
    return folder / corpus.store_name


def has_own_memory(paths: PathSettings) -> bool:
    """Return whether the user has a memory of their own."""
    return (data_folder(paths) / OWN_STORE).exists()


ENDING = ".served"


def announce(path: Path, address: str) -> IO[str] | None:
    """Write the address and hold it until what is returned is closed; None where nothing can be written there."""
    import fcntl

    try:
        file = path.open("a+", encoding="utf-8")
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        file.truncate(0)
        file.write(address)
        file.flush()
    except OSError:
        return None
    return file


def address_at(path: Path | None) -> str:
    """Return the address that a living server has written; "" where there is none."""
    import fcntl

    if path is None:
        return ""
    try:
        with path.open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return file.read(200).strip()
    except OSError:
        pass
    return ""
