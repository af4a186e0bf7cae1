"""Write an HTML page to a file, with palettes for it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Option, Takes

if TYPE_CHECKING:
    from amgs_app.terminal.themes import Palette

_LIGHT = "paper"

Html = Annotated[
    Path | None, Option("--html", metavar="FILE", help="Also write it as a page of HTML."), Takes("file", writes=True)
]
Redact = Annotated[bool, Option("--redact", help="With --html: leave out every text, path and name.")]


def write_page(path: Path, text: str) -> None:
    """Write a page; raises InputError if that fails."""
    from amgs.errors import InputError

    try:
        path.write_bytes(text.encode())
    except OSError as error:
        raise InputError(
            f"{path} cannot be written: {error.strerror}.", title="Nothing was written", way_out="Choose another file."
        ) from error


def palettes() -> tuple[Palette, Palette]:
    """Return the palettes for light and dark mode."""
    from amgs_app.terminal.themes import Palette, load_all, theme_folders

    known, _ = load_all(theme_folders())
    return known.get(_LIGHT, Palette()), Palette()
