"""A terminal that a bench holds: the program runs in it as for a person, keys go in, and what is drawn comes out."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Final, Self

from benchmarks.cold_start import started_before

_ESCAPES: Final = re.compile(
    rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[PX^_][^\x1b]*\x1b\\|[@-Z\\-_])"
)

LONGEST: Final = 1800.0
"""Seconds until a program is given up that draws nothing and uses no processor time either."""


class Terminal:
    """A program, `amgs` unless another is named, in a pseudo-terminal of columns × lines; leaving the `with` ends it.
    environment: variables of its own.

    `seen` is what was drawn since the last key, as text without the control sequences: a place to look for a
    sign, not a screen.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        columns: int,
        lines: int,
        environment: Mapping[str, str] = MappingProxyType({}),
        *,
        program: Sequence[str] = (sys.executable, "-m", "amgs_tui"),
    ) -> None:
        self.began = time.perf_counter()
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        told = {**started_before(), "TERM": "xterm-256color", "COLORTERM": "truecolor", **environment}
        self._child = subprocess.Popen(
            [*program, *arguments], stdin=theirs, stdout=theirs, stderr=theirs, env=told, start_new_session=True
        )
        os.close(theirs)
        self._ours = ours
        self._drawn = bytearray()
        self._before = bytearray()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._child.poll() is None:
            os.killpg(self._child.pid, signal.SIGKILL)
        self._child.wait()
        os.close(self._ours)

    @property
    def process(self) -> int:
        """The id of the program's process."""
        return self._child.pid

    @property
    def seen(self) -> str:
        """What was drawn since the last key."""
        return _plain(self._drawn)

    def ever(self, sign: str) -> bool:
        """Whether a pattern was drawn since `forget`."""
        return re.search(sign, _plain(self._before + self._drawn)) is not None

    def forget(self) -> None:
        """Nothing drawn so far counts for `ever`."""
        self._before.clear()

    def press(self, keys: str) -> None:
        """Send keys; what was drawn before them no longer counts as seen."""
        self.read(0.0)
        self._before += self._drawn
        self._drawn.clear()
        os.write(self._ours, keys.encode())

    def read(self, seconds: float) -> None:
        """Take what is drawn within so many seconds, or what there is already."""
        until = time.perf_counter() + seconds
        while True:
            left = max(0.0, until - time.perf_counter())
            ready, _, _ = select.select([self._ours], [], [], left)
            if not ready:
                return
            self._take()
            if not seconds:
                continue
            if time.perf_counter() >= until:
                return

    def wait(self, sign: str, timeout: float) -> float | None:
        """Seconds until a pattern is among what was drawn since the last key; None when it does not come."""
        began = time.perf_counter()
        while not re.search(sign, self.seen):
            left = timeout - (time.perf_counter() - began)
            ready, _, _ = select.select([self._ours], [], [], max(0.0, left))
            if not ready or not self._take():
                return None
        return time.perf_counter() - began

    def come(self, sign: str, processor: float) -> bool:
        """Wait until a pattern is among what was drawn since the last key; gives whether it came.

        processor: see `patience`.
        """
        patient = self.patience(processor)
        while not re.search(sign, self.seen):
            ready, _, _ = select.select([self._ours], [], [], 1.0)
            if not patient() or (ready and not self._take()):
                return False
        return True

    def patience(self, processor: float) -> Callable[[], bool]:
        """Tells from now on whether the program is still to be waited for: while it has used fewer seconds of processor
        time than these, however slowly other programs let it work, and at most LONGEST.
        """
        began, until = self.processor(), time.perf_counter() + LONGEST
        return lambda: time.perf_counter() < until and not self.processor() - began > processor

    def resident(self) -> float:
        """MiB of memory that the program and what it started hold now; NaN where the system does not say."""
        try:
            pages = sum(
                int(Path(f"/proc/{process}/statm").read_text(encoding="ascii").split()[1])
                for process in _with_children(self._child.pid)
            )
        except OSError:
            return float("nan")
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    def processor(self) -> float:
        """Seconds of processor time that the program and what it started have used; NaN where the system says none."""
        try:
            ticks = sum(
                int(used)
                for process in _with_children(self._child.pid)
                for used in Path(f"/proc/{process}/stat")
                .read_text(encoding="ascii", errors="replace")
                .rpartition(")")[2]
                .split()[11:13]
            )
        except OSError:
            return float("nan")
        return ticks / os.sysconf("SC_CLK_TCK")

    def _take(self) -> bool:
        try:
            piece = os.read(self._ours, 1 << 16)
        except OSError:  # the program has left
            return False
        self._drawn += piece
        return bool(piece)


def _with_children(process: int) -> list[int]:
    """A process and all that it started; OSError where the system does not say."""
    found = [process]
    for each in found:
        for task in Path(f"/proc/{each}/task").iterdir():
            found += map(int, (task / "children").read_text(encoding="ascii").split())
    return found


def _plain(drawn: bytes | bytearray) -> str:
    """What was drawn, without the control sequences."""
    return _ESCAPES.sub(b"", bytes(drawn)).decode(errors="replace")
