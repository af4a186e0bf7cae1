"""Leave as with `q` if the terminal is closed or a signal asks the program to end, closing the store and keeping the
screen's state.

A closed terminal sends SIGHUP only to programs that it controls; others find their input at its end, and Textual would
go on reading nothing as fast as it can, with the store locked.
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
"""Interval of checks whether the terminal is still there."""
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
