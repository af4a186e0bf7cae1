"""What is drawn when the terminal has gone holds nobody up, and a signal to go on starts no driver that runs."""

from __future__ import annotations

import errno
import threading
from typing import Any

import pytest
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread

from amgs_tui.terminal_driver import LastingOutput, TerminalDriver


class GoneTerminal:
    """What a terminal is to its programs when it has been closed."""

    def write(self, text: str) -> int:
        raise OSError(errno.EIO, "Input/output error")

    def flush(self) -> None:
        raise OSError(errno.EIO, "Input/output error")


def drawn_to_nobody(*, lasts: bool) -> bool:
    """Whether all that is drawn on a terminal that is gone is taken, and the thread that writes it can be stopped."""
    stream: Any = GoneTerminal()
    output: Any = LastingOutput(stream) if lasts else stream
    writer = WriterThread(output)

    def draw() -> None:
        for _ in range(2 * MAX_QUEUED_WRITES + 2):
            writer.write("a line")
        writer.stop()

    writer.start()
    drawing = threading.Thread(target=draw, daemon=True)
    drawing.start()
    drawing.join(timeout=5 if lasts else 0.5)
    return not drawing.is_alive()


def test_what_is_drawn_when_the_terminal_has_gone_holds_nobody_up() -> None:
    assert drawn_to_nobody(lasts=True)


@pytest.mark.parametrize("suspended", [False, True])
def test_a_signal_to_go_on_starts_the_driver_after_a_suspension_only(
    monkeypatch: pytest.MonkeyPatch, suspended: bool
) -> None:
    started: list[bool] = []
    monkeypatch.setattr(TerminalDriver, "resume_application_mode", lambda _: started.append(True))
    driver = object.__new__(TerminalDriver)
    driver._auto_restart, driver._must_signal_resume = True, suspended
    driver._sigcont_application()
    assert bool(started) == suspended
