"""A terminal that goes away takes the program with it, in order: nothing is left running with the store locked."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import pytest
from textual.drivers.linux_driver import LinuxDriver

import amgs
from amgs_tui.terminal import is_gone
from amgs_tui.terminal_driver import TerminalDriver

pty = pytest.importorskip("pty")
PAINTED = b"\x1b[?1049h"


@pytest.mark.parametrize("told", ["its input ends", "a signal", "the terminal it belongs to"])
def test_the_program_leaves_with_its_terminal(tmp_path: Path, told: str) -> None:
    store = tmp_path / "hung.duckdb"
    with amgs.open(store) as memory:
        memory.add("The tide at Faro turns at seven.")
    ours, its = pty.openpty()
    started = [sys.executable, "-m", "amgs_tui", "--model", "tiny", "--store", str(store)]
    if told == "the terminal it belongs to":  # the first terminal that a new session opens is its own
        started = ["sh", "-c", 'exec "$@" < "$0" > "$0" 2>&1', os.ttyname(its), *started]
    program = subprocess.Popen(
        started,
        stdin=its,
        stdout=its,
        stderr=its,
        env={**os.environ, "TERM": "xterm-256color", "XDG_STATE_HOME": str(tmp_path)},
        start_new_session=True,  # else it belongs to none: no signal tells it
    )
    os.close(its)
    try:
        seen = b""
        while b"Faro" not in seen:
            seen += os.read(ours, 65536)
        assert PAINTED in seen
        if told == "a signal":
            program.send_signal(signal.SIGHUP)
        os.write(ours, b"2\tv34v" * 3)
        os.read(ours, 65536)  # much is drawn meanwhile
        os.close(ours)
        assert program.wait(timeout=120) == 0
    finally:
        program.kill()
        program.wait()
    with amgs.open(store) as memory:
        memory.add("The store was let go.")


@pytest.mark.parametrize(("number", "fault"), [(errno.EIO, False), (errno.EBADF, True)])
def test_keys_that_cannot_be_read_while_the_terminal_is_hung_up_are_no_fault(
    number: int, fault: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the end of the other side and the hang-up, the system lets a read of a terminal fail."""

    def read(self: LinuxDriver) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(LinuxDriver, "run_input_thread", read)
    driver = TerminalDriver.__new__(TerminalDriver)
    with pytest.raises(OSError, match="Bad file") if fault else nullcontext():
        driver.run_input_thread()


def test_a_pipe_that_nobody_writes_to_is_gone_and_an_open_one_is_not() -> None:
    end, other = os.pipe()
    assert not is_gone(end)
    os.close(other)
    assert is_gone(end)
    os.close(end)
