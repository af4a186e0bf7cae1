"""Appearance and keys of the screen: themes, the terminal's symbols, keys defined by the operator."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from amgs_app.render.canvas import Canvas
from amgs_app.terminal.screen import Symbols
from amgs_app.terminal.themes import Palette, find_shipped_folder, load_all, to_textual
from amgs_tui.keys import own_commands, remap

if TYPE_CHECKING:
    from textual.app import App
    from textual.binding import Binding

    from amgs_app.terminal.themes import ThemeError

PLAIN_TERMINALS: Final = ("linux", "dumb")
"""Values of TERM whose terminals show no braille: the console of Linux, and those that only write lines."""
C_LOCALES: Final = ("C", "POSIX")
COERCED: Final = "C.UTF-8"
"""What Python sets LC_CTYPE to where it finds one of them."""


class Appearance:
    """The palettes, the theme in use, the symbols, the remapped keys.

    theme: what was asked for when the program was started. last_theme: the one that was chosen in an earlier start.
    folders: where palettes lie. redraw: called when every figure has to be drawn again.
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
        """Name of the theme in use."""
        return self._app.theme

    @property
    def palette(self) -> Palette:
        """Palette in use."""
        return self.palettes.get(self._app.theme) or Palette()

    def canvas(self, width: int, height: int) -> Canvas:
        """Return a canvas of width × height cells in the theme and the symbols in use."""
        return Canvas(width, height, self.palette, self.symbols)

    def set_theme(self, name: str) -> None:
        """Use a theme, in the figures too; an unknown name changes nothing."""
        if name in self.palettes:
            self._app.theme = name
            self._redraw()

    def choose_theme(self, name: str) -> None:
        """Use a theme because the operator wants it."""
        self.set_theme(name)
        self.asked_theme, self.chosen_theme = None, self._app.theme

    def use_remembered(self, name: str) -> None:
        """Use the theme of a remembered layout, unless another was asked for at the start."""
        if name in self.palettes and not self.asked_theme:
            self.chosen_theme = name
            self.set_theme(name)

    @property
    def next_theme(self) -> str:
        """Name of the theme after the one in use."""
        names = list(self.palettes)
        return names[(names.index(self._app.theme) + 1) % len(names)]

    def add_folders(self, folders: Sequence[Path]) -> Sequence[ThemeError]:
        """Take in palettes of more folders; gives the files that were skipped, with the reason."""
        new = [folder for folder in folders if folder not in self.folders]
        if not new:
            return ()
        more, problems = load_all(new)
        self.palettes |= more
        for palette in more.values():
            self._app.register_theme(to_textual(palette))
        return problems

    def use_symbols(self, symbols: Symbols | Literal["auto"]) -> None:
        """Draw with other symbols; auto leaves them as they are."""
        if symbols == "auto":
            return
        self.symbols = symbols
        self._app.refresh_css(animate=False)  # Textual forgets what was drawn with other symbols
        self._redraw()

    def use_keys(
        self, keys: Mapping[str, str], commands: Mapping[str, str], offered: Iterable[Iterable[Binding]]
    ) -> tuple[str, ...]:
        """Give actions other keys, and commands a key; gives a sentence for each entry that cannot be used, the others
        hold.

        keys: by the id of a binding. commands: lines by key. offered: for each pane, the bindings that are offered
        while it has the focus.
        """
        panes = [tuple(bindings) for bindings in offered]
        self.keys, problems = remap(keys, panes)
        self.commands, more = own_commands(commands, panes, self.keys)
        self._app.set_keymap(dict(self.keys))
        return (*problems, *more)


def symbols_of_terminal(environ: Mapping[str, str] | None = None) -> Symbols:
    """Return what the terminal can show: ASCII where the locale is not UTF-8 or the terminal has no font for more, else
    everything.

    The locale is read from the environment, for Python itself writes UTF-8 whatever the locale says.
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
