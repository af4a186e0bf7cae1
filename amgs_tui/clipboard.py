"""Copy from the screen to the terminal's clipboard, and to this machine's, if there is one."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

    from amgs_tui.main_screen import MainScreen

COMMANDS = (
    ("wl-copy",),
    ("xclip", "-selection", "clipboard"),
    ("xsel", "--clipboard", "--input"),
    ("pbcopy",),
    ("clip.exe",),
)
"""Programs that copy their input to the clipboard, in order of preference."""
SECONDS = 2.0


def copy(text: str) -> str:
    """Copy a text by the first available program; return its name, "" if all fail."""
    for command in COMMANDS:
        if shutil.which(command[0]) is None:
            continue
        try:
            done = subprocess.run(
                command,
                input=text.encode(),
                timeout=SECONDS,
                check=False,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired):
            continue
        if done.returncode == 0:
            return command[0]
    return ""


@dataclass(eq=False)
class Copying:
    """Copies the mouse selection, else the content of the focused pane."""

    app: App[Any]
    screen: MainScreen

    def copy_marked(self) -> bool:
        """Copy the mouse selection; return whether there was one."""
        marked = self.screen.get_selected_text()
        if not marked:
            return False
        self.screen.clear_selection()
        self._start(lambda: marked)
        return True

    def copy_pane(self) -> None:
        """Copy the mouse selection, else the content of the focused pane."""
        if not self.copy_marked() and (pane := self.screen.focused_pane) is not None:
            self._start(pane.copy_text)

    def copy_text(self, text: str) -> None:
        """Copy a text."""
        self._start(lambda: text)

    def _start(self, read_text: Callable[[], str]) -> None:
        """Copy a text to both clipboards in a thread, since other programs may be slow."""
        self.app.run_worker(lambda: self._copy(read_text()), thread=True)

    def _copy(self, text: str) -> None:
        taken = copy(text)
        self.app.call_from_thread(self.app.copy_to_clipboard, text)
        by = f"{taken} and the terminal" if taken else "the terminal"
        self.app.call_from_thread(self.app.notify, f"{len(text):,} characters, by {by}", title="Copied", timeout=3)
