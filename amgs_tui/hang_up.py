"""Leaving as by `q` when the terminal is closed under the program, or a signal asks it to end: the store is closed, and
its place is kept.

A closed terminal sends SIGHUP only to the programs that it controls. Any other program finds its input at an end, and
Textual's reader would go on reading nothing, as fast as it can, with the store locked.
"""

from __future__ import annotations

import asyncio
import os
import select
import signal
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from textual.app import App
    from textual.driver import Driver

LOOK_SECONDS: Final = 0.5
"""How often it is asked whether the terminal is still there."""
SIGNALS: Final = ("SIGHUP", "SIGTERM")


def leave_when_hung_up(app: App[Any]) -> None:
    """From now on, leave when the terminal is gone or a signal asks for it. Called while the program's loop runs."""

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
    """Return the driver that outlives its terminal in the place of Textual's own; that of Windows or a browser as it
    is.
    """
    if kind.__name__ != "LinuxDriver":
        return kind
    from amgs_tui.terminal_driver import TerminalDriver

    return TerminalDriver


def is_gone(stream: int) -> bool:
    """Return whether the other end of this file descriptor has hung up; False where that is unknown."""
    if not hasattr(select, "poll"):
        return False
    poll = select.poll()
    poll.register(stream, 0)
    return any(event & (select.POLLHUP | select.POLLERR) for _, event in poll.poll(0))


def let_go() -> None:
    """Lead nowhere what is written to a terminal that is gone: to wait for it would hold up the leaving."""
    gone = [stream for stream in (0, 1, 2) if is_gone(stream)]
    if gone:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in gone:
            os.dup2(nowhere, stream)
        os.close(nowhere)
