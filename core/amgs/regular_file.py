"""Whether what a path names can be read to its end."""

from __future__ import annotations

from pathlib import Path

from amgs.errors import InputError


def check_ends(path: Path) -> None:
    """Raise InputError for a pipe, a device or a socket, which may have no end; what is not there passes."""
    if path.exists() and not (path.is_file() or path.is_dir()):
        raise InputError(
            f"{path} is not a file.", way_out="Choose a file; what a pipe holds can be saved in one."
        )
