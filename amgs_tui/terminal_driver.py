"""A driver for terminals that may go away: further output is discarded, and no signal starts it twice."""

from __future__ import annotations

import errno
from contextlib import suppress
from typing import IO, Any

from textual.drivers.linux_driver import LinuxDriver


class TerminalDriver(LinuxDriver):
    """Textual's driver (8.2), which outlives its terminal until it is stopped in order."""

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._file: Any = LastingOutput(self._file)

    def _sigcont_application(self, *arguments: Any) -> None:
        """Continue only after a suspension.

        A shell that ends also sends this signal to its programs, and a driver that was never suspended would start a
        second time, with second threads for keys and output.
        """
        if self._must_signal_resume:
            super()._sigcont_application(*arguments)

    def run_input_thread(self) -> None:
        """Read keys until the terminal is gone; errors in reading while it hangs up are ignored."""
        try:
            super().run_input_thread()
        except OSError as error:
            if error.errno != errno.EIO:
                raise


class LastingOutput:
    """A stream that accepts output when nobody reads it any more.

    Otherwise Textual's writing thread would end at the first error, and later output, and the stop, would wait forever
    for a full queue, with the store locked.
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
