"""The driver of a terminal that may go away: what is written then leads nowhere, and no signal starts it twice."""

from __future__ import annotations

import errno
from contextlib import suppress
from typing import IO, Any

from textual.drivers.linux_driver import LinuxDriver


class TerminalDriver(LinuxDriver):
    """Textual's driver (8.2), which outlives its terminal long enough to be stopped in order."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._file: Any = LastingOutput(self._file)

    def _sigcont_application(self, *arguments: Any) -> None:
        """Go on after a suspension only. A shell that ends sends its programs the signal too, and a driver that was
        never suspended would begin a second time, with a second thread for the keys and one for what is drawn.
        """
        if self._must_signal_resume:
            super()._sigcont_application(*arguments)

    def run_input_thread(self) -> None:
        """Read keys until the terminal is gone. While it is being hung up, reading from it fails: that is no fault."""
        try:
            super().run_input_thread()
        except OSError as error:
            if error.errno != errno.EIO:
                raise


class LastingOutput:
    """A stream that takes what is written when nobody is there to read it any more.

    Textual's thread that writes would end at the first error; then what is written next, and the stop, wait for room in
    a queue that nobody empties, and the program stands still with the store locked.
    """

    def __init__(self, stream: IO[str]) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
