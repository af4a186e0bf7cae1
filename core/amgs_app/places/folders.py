"""Where stores, checkpoints, unpacked models and themes lie when no option says otherwise."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from amgs_app.places.corpus import shipped

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
