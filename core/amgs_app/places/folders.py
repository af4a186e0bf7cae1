"""Default folders of stores, checkpoints and unpacked models; which store a run uses; and the address that serves it.

A server writes its address into a file beside the store and locks the file. The system releases the lock when the
server ends in any way, so the address of a dead server is never used.
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
    """Return the folder of stores and the shell's history: from the settings, else the user's data folder. Raises
    StoreError without a home folder.
    """
    folder = _own_folder(paths)
    if not folder.is_absolute():  # a `~` that nothing stands for
        raise StoreError("There is no home folder for a memory: HOME is not set.", way_out="Set HOME.", about="place")
    return folder


def _own_folder(paths: PathSettings) -> Path:
    """Return the data folder, which may be relative if HOME is not set."""
    import platformdirs

    if paths.data:
        return Path(paths.data).expanduser()
    return Path(platformdirs.user_data_dir("amgs", appauthor=False))


def checkpoint_folder(paths: PathSettings) -> Path:
    """Return the folder of the user's own checkpoints; it need not exist."""
    return Path(paths.checkpoints).expanduser() if paths.checkpoints else _own_folder(paths) / "checkpoints"


def model_cache(paths: PathSettings) -> Path | None:
    """Return the folder of unpacked models; None if the settings switch it off."""
    import platformdirs

    if paths.cache.lower() == "off":
        return None
    if paths.cache:
        return Path(paths.cache).expanduser()
    folder = Path(platformdirs.user_cache_dir("amgs", appauthor=False))
    return folder / "models" if folder.is_absolute() else None


OWN_STORE = "memory.duckdb"
"""The user's own memory in the data folder, used if neither a store nor a corpus is named."""


def find_store(
    named: str | None, corpus: Corpus, paths: PathSettings, *, own: bool, corpus_is_named: bool
) -> Path | str:
    """Return the store named by --store; else, in the data folder, the corpus's store for --corpus, the user's own
    memory if it exists, or the sample's store.

    own: the user's own memory even if it does not exist yet. Raises UsageError for an invalid path.
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
    """Write a server's address to the file and lock it until the returned file is closed; None if it
    cannot be written.
    """
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
    """Return the address of the running server in the file; "" if there is none."""
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
