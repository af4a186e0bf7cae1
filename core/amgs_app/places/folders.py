"""Where stores, checkpoints, unpacked models and themes lie, when no option says otherwise, and which store a run works
on.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from amgs_app.places.corpus import Corpus, shipped
from amgs_app.places.paths import check_place

if TYPE_CHECKING:
    from amgs_app.settings import PathSettings


def data_folder(paths: PathSettings) -> Path:
    """Where stores and the shell's history live: the folder in the settings, else the user's data folder."""
    import platformdirs

    if paths.data:
        return Path(paths.data).expanduser()
    return Path(platformdirs.user_data_dir("amgs", appauthor=False))


def checkpoint_folder(paths: PathSettings) -> Path:
    """Where the user's own checkpoints are looked for; it need not be there."""
    return Path(paths.checkpoints).expanduser() if paths.checkpoints else data_folder(paths) / "checkpoints"


def model_cache(paths: PathSettings) -> Path | None:
    """Where unpacked models are kept; None where the settings switch that off."""
    import platformdirs

    if paths.cache.lower() == "off":
        return None
    if paths.cache:
        return Path(paths.cache).expanduser()
    return Path(platformdirs.user_cache_dir("amgs", appauthor=False)) / "models"


def theme_folders() -> tuple[Path, ...]:
    """Where themes are looked for: what ships with the program, then the user's own."""
    import platformdirs

    return shipped("themes"), Path(platformdirs.user_config_dir("amgs", appauthor=False)) / "themes"


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
