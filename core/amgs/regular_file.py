"""Resolve a path and check that its file can be read to the end."""

from __future__ import annotations

import os
from pathlib import Path

from amgs.errors import InputError


def real_path(path: Path) -> Path:
    """Return the path without links; of one that leads to itself as far as it goes, so that whoever opens it is
    told.
    """
    return Path(os.path.realpath(path))


def check_ends(path: Path) -> None:
    """Raise InputError for a pipe, a device or a socket, which may have no end; what is not there passes."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(f"{path} is not a file.", way_out="Choose a file; what a pipe holds can be saved in one.")
