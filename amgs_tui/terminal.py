"""Work with the terminal: copy to its clipboard and to this machine's, and leave as with `q` when it is closed."""

from __future__ import annotations

import asyncio
import os
import select
import shutil
import signal
import subprocess
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App
    from textual.driver import Driver

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
        """Copy the mouse selection; return whether there was any."""
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


LOOK_SECONDS: Final = 0.5
"""Interval of checks whether the terminal is still there."""
SIGNALS: Final = ("SIGHUP", "SIGTERM")


def leave_when_hung_up(app: App[Any]) -> None:
    """From now on, leave when the terminal is gone or a signal asks for it. Called while the program's loop runs.

    It ends as with `q`, closes the store and saves the screen's state. A closed terminal sends SIGHUP only to programs
    that it controls; others find their input at its end, and Textual would go on reading nothing as fast as it can,
    with the store locked.
    """

    def leave() -> None:
        let_go()
        app.exit()

    for name in SIGNALS:
        if hasattr(signal, name):
            with suppress(NotImplementedError, RuntimeError):  # Windows; a loop that is not in the main thread
                asyncio.get_running_loop().add_signal_handler(getattr(signal, name), leave)
    if os.isatty(0):
        app.set_interval(LOOK_SECONDS, lambda: leave() if is_gone(0) else None)


def make_lasting(kind: type[Driver]) -> type[Driver]:
    """Return a driver that outlives its terminal, instead of Textual's; those of Windows and browsers are unchanged."""
    if kind.__name__ != "LinuxDriver":
        return kind
    from amgs_tui.terminal_driver import TerminalDriver

    return TerminalDriver


def is_gone(stream: int) -> bool:
    """Return whether the other end of this file descriptor has hung up; False if unknown."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(stream, 0)
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))


def let_go() -> None:
    """Discard output to a terminal that is gone, since waiting for it would prevent leaving."""
    gone = [stream for stream in (0, 1, 2) if is_gone(stream)]
    if gone:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in gone:
            os.dup2(nowhere, stream)
        os.close(nowhere)
