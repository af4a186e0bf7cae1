"""Where the store lies that a run works on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from amgs_app.places.corpus import Corpus
from amgs_app.places.folders import data_folder
from amgs_app.places.paths import check_place

if TYPE_CHECKING:
    from amgs_app.settings import PathSettings

OWN_STORE = "memory.duckdb"
"""The user's own memory in the data folder: what commands work on that name neither a store nor a corpus."""


def find_store(
    named: str | None, corpus: Corpus, paths: PathSettings, *, own: bool, corpus_is_named: bool
) -> Path | str:
    """What --store names, else in the user's data folder: the store of --corpus, else the user's own memory once there
    is one, else the sample's. own: the user's own memory even where it is not there yet. Raises UsageError for a name
    that is no place.
    """
    if named is not None:
        from amgs.storage.opening import MEMORY, is_address

        if named == MEMORY or is_address(named):
            return named
        check_place(Path(named), example="notes")
        return Path(named)
    folder = data_folder(paths)
    if not corpus_is_named and (own or (folder / OWN_STORE).exists()):
        return folder / OWN_STORE
    return folder / corpus.store_name
