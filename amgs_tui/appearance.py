"""Appearance and keys of the screen: themes, the terminal's symbols, keys defined by the operator."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from amgs_app.render.canvas import Canvas
from amgs_app.terminal.output import Symbols
from amgs_app.terminal.themes import Palette, find_shipped_folder, load_all, to_textual
from amgs_tui.keys import own_commands, remap

if TYPE_CHECKING:
    from textual.app import App
    from textual.binding import Binding

    from amgs_app.terminal.themes import ThemeError

PLAIN_TERMINALS: Final = ("linux", "dumb")
"""Values of TERM for terminals without braille: the Linux console, and those that only write lines."""
C_LOCALES: Final = ("C", "POSIX")
COERCED: Final = "C.UTF-8"
"""LC_CTYPE as set by Python on such terminals."""


class Appearance:
    """The palettes, the present theme, the symbols, the remapped keys.

    theme: requested at the start. last_theme: chosen in an earlier start. folders: with palettes. redraw: called when
    every figure must be redrawn.
    """

    def __init__(
        self,
        app: App[Any],
        redraw: Callable[[], None],
        *,
        theme: str | None = None,
        last_theme: str = "",
        folders: Sequence[Path] | None = None,
        symbols: Symbols | None = None,
    ) -> None:
        self._app = app
        self._redraw = redraw
        self.folders = (find_shipped_folder(),) if folders is None else tuple(folders)
        self.palettes, self.problems = load_all(self.folders)
        for palette in self.palettes.values():
            app.register_theme(to_textual(palette))
        self.asked_theme = theme
        self.chosen_theme = ""
        """The theme that the operator chose, which the layout remembers."""
        wanted = (name for name in (theme, last_theme) if name in self.palettes)
        app.theme = next(wanted, None) or next(iter(self.palettes))
        self.symbols: Symbols = symbols or symbols_of_terminal()
        self.keys: Mapping[str, str] = {}
        """Keys of the operator's own, by the id of the binding."""
        self.commands: Sequence[Binding] = ()
        """Keys that run commands of the operator's own."""

    @property
    def theme(self) -> str:
        """Name of the present theme."""
        return self._app.theme

    @property
    def palette(self) -> Palette:
        """Present palette."""
        return self.palettes.get(self._app.theme) or Palette()

    def canvas(self, width: int, height: int) -> Canvas:
        """Return a canvas of width × height cells in the present theme and symbols."""
        return Canvas(width, height, self.palette, self.symbols)

    def set_theme(self, name: str) -> None:
        """Use a theme, also in figures; an unknown name changes nothing."""
        if name in self.palettes:
            self._app.theme = name
            self._redraw()

    def choose_theme(self, name: str) -> None:
        """Use a theme chosen by the operator."""
        self.set_theme(name)
        self.asked_theme, self.chosen_theme = None, self._app.theme

    def use_remembered(self, name: str) -> None:
        """Use the theme of a stored layout, unless another was requested at the start."""
        if name in self.palettes and not self.asked_theme:
            self.chosen_theme = name
            self.set_theme(name)

    @property
    def next_theme(self) -> str:
        """Name of the next theme."""
        names = list(self.palettes)
        return names[(names.index(self._app.theme) + 1) % len(names)]

    def add_folders(self, folders: Sequence[Path]) -> Sequence[ThemeError]:
        """Load palettes from more folders; return skipped files, with reasons."""
        new = [folder for folder in folders if folder not in self.folders]
        if not new:
            return ()
        more, problems = load_all(new)
        self.palettes |= more
        for palette in more.values():
            self._app.register_theme(to_textual(palette))
        return problems

    def use_symbols(self, symbols: Symbols | Literal["auto"]) -> None:
        """Draw with other symbols; auto keeps the present ones."""
        if symbols == "auto":
            return
        self.symbols = symbols
        self._app.refresh_css(animate=False)  # clears what Textual has cached with other symbols
        self._redraw()

    def use_keys(
        self, keys: Mapping[str, str], commands: Mapping[str, str], offered: Iterable[Iterable[Binding]]
    ) -> tuple[str, ...]:
        """Assign keys to actions and commands; return a sentence for each entry that cannot be used.

        keys: by the id of a binding. commands: lines by key. offered: for each pane, the bindings available while it
        has the focus.
        """
        panes = [tuple(bindings) for bindings in offered]
        self.keys, problems = remap(keys, panes)
        self.commands, more = own_commands(commands, panes, self.keys)
        self._app.set_keymap(dict(self.keys))
        return (*problems, *more)


def symbols_of_terminal(environ: Mapping[str, str] | None = None) -> Symbols:
    """Return what the terminal can show: ASCII if the locale is not UTF-8 or the terminal lacks a font, else
    everything.

    The locale is read from the environment, since Python writes UTF-8 regardless of it.
    """
    env = os.environ if environ is None else environ
    if env.get("TERM", "") in PLAIN_TERMINALS:
        return "ascii"
    locale = next((value for name in ("LC_ALL", "LC_CTYPE", "LANG") if (value := env.get(name))), "")
    if env.get("LANG") in C_LOCALES and not env.get("LC_ALL") and locale == COERCED:
        locale = env["LANG"]  # Python has put LC_CTYPE in its place
    if not locale or sys.platform == "win32":
        encoding = getattr(sys.stdout, "encoding", "") or ""
        return "braille" if _is_utf8(encoding) else "ascii"
    return "braille" if _is_utf8(locale) else "ascii"


def _is_utf8(name: str) -> bool:
    return "utf8" in name.lower().replace("-", "")
