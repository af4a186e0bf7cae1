"""Write a page of HTML to a file, and say with which palettes it is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Option
from amgs_app.results.memory import PageWritten

if TYPE_CHECKING:
    from amgs_app.terminal.themes import Palette

_LIGHT = "paper"

Redact = Annotated[bool, Option("--redact", help="Leave out every text of the memory, and its name.")]


def written(path: Path, text: str, *, redact: bool) -> PageWritten:
    """Write a page; raises InputError where that cannot be."""
    from amgs.errors import InputError

    data = text.encode()
    try:
        path.write_bytes(data)
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", title="Nothing was written", way_out="Choose another file."
        ) from error
    return PageWritten(str(path), len(data), redact)


def palettes() -> tuple[Palette, Palette]:
    """What a light page is drawn with, and a dark one."""
    from amgs_app.places.folders import theme_folders
    from amgs_app.terminal.themes import Palette, load_all

    known, _ = load_all(theme_folders())
    return known.get(_LIGHT, Palette()), Palette()
