"""What is drawn when the terminal has gone holds nobody up, and a signal to go on starts no driver that runs."""

from __future__ import annotations

import errno
import threading
from typing import Any

import pytest
from textual.drivers._writer_thread import MAX_QUEUED_WRITES, WriterThread
from textual.drivers.headless_driver import HeadlessDriver

linux_driver = pytest.importorskip("textual.drivers.linux_driver")

from amgs_tui.app import Workstation  # noqa: E402
from amgs_tui.hang_up import make_lasting  # noqa: E402
from amgs_tui.terminal_driver import LastingOutput, TerminalDriver  # noqa: E402


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


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_without_it_whoever_draws_waits_for_ever() -> None:
    assert not drawn_to_nobody(lasts=False)


def test_the_workstation_drives_a_terminal_by_it_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    assert make_lasting(linux_driver.LinuxDriver) is TerminalDriver
    assert make_lasting(HeadlessDriver) is HeadlessDriver
    monkeypatch.delenv("TEXTUAL_DRIVER", raising=False)
    assert Workstation(lambda: None).driver_class is TerminalDriver


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
