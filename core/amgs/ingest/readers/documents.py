"""Read HTML, PDF, Office files, e-books and Outlook mails as Markdown, by markitdown (the extra `documents`).

It runs in a separate process: a file on which a parser hangs fails alone, after a minute, and markitdown is loaded only
once.
"""

from __future__ import annotations

import atexit
import io
import json
import math
import resource
import subprocess
import sys
import time
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from threading import Lock, Timer
from typing import Any, Final, cast

from amgs.errors import MissingExtraError
from amgs.extras import install_line, is_installed
from amgs.ingest.document import ParsedDocument, UnfitError, decode
from amgs.ingest.readers import notes

ENDINGS: Final = (".html", ".htm", ".pdf", ".docx", ".pptx", ".xlsx", ".epub", ".msg")
PATIENCE: Final = 60.0
"""Seconds of CPU time for a file; also the idle time after which the process ends."""
_MEMORY: Final = 4 << 30
_STANDSTILL: Final = 10
"""A file may take this many times `PATIENCE` by the clock, so that a busy machine refuses none."""


def read(raw: bytes, *, ending: str) -> ParsedDocument:
    """See `Reader`. Raises MissingExtraError if markitdown is not installed."""
    if not is_installed("markitdown"):
        raise MissingExtraError(
            f"A {ending} file needs the package markitdown, which is not installed.",
            way_out=f"Install it: {install_line('documents')}.",
        )
    guess = ""
    if ending in (".html", ".htm"):
        text, guess = decode(raw)
        raw = text.encode()
    answer = _converter.convert(raw, ending)
    if "error" in answer:
        raise UnfitError(f"it cannot be read as {ending} ({answer['error']})")
    if not (text := answer["text"].strip()):
        raise UnfitError("it holds no text; a scan must go through OCR first")
    # The leading line break keeps a horizontal rule at the top from being read as front matter.
    document = notes.document(f"\n{text}")
    title = " ".join(answer["title"].split())
    warnings = (guess,) if guess else ()
    return replace(document, title=title or document.title, warnings=warnings, first_line=0)


class Converter:
    """A process that converts files in turn; `convert` may be called from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._idle: Timer | None = None
        atexit.register(self.close)

    def convert(self, raw: bytes, ending: str) -> dict[str, str]:
        """Return text and title of a file, or the parser's error. Raises UnfitError if it takes too long or too much
        memory.
        """
        with self._lock:
            if self._idle is not None:
                self._idle.cancel()
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, "-P", "-m", __name__],  # -P: import nothing from the working folder
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )
            limit = Timer(_STANDSTILL * PATIENCE, self._process.kill)
            limit.start()
            try:
                answer = _ask(self._process, raw, ending)
            except BaseException as error:
                self._end()
                if isinstance(error, OSError | ValueError):
                    raise UnfitError(
                        f"it takes more than {PATIENCE:.0f} seconds or {_MEMORY >> 30} GiB of memory to read"
                    ) from error
                raise
            finally:
                limit.cancel()
            self._idle = Timer(PATIENCE, self.close)
            self._idle.daemon = True
            self._idle.start()
            return answer

    def close(self) -> None:
        """End the process; the next file starts another."""
        with self._lock:
            if self._idle is not None:
                self._idle.cancel()
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            with suppress(OSError):
                process.communicate()


_converter: Final = Converter()


def _ask(process: subprocess.Popen[bytes], raw: bytes, ending: str) -> dict[str, str]:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps([ending, len(raw), PATIENCE]).encode() + b"\n" + raw)
    process.stdin.flush()
    return cast("dict[str, str]", json.loads(process.stdout.readline()))


def serve() -> None:
    """Convert files from standard input until it ends."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]))
    answers = sys.stdout
    with redirect_stdout(sys.stderr):
        from markitdown import MarkItDown, StreamInfo

        converter = MarkItDown()
        while head := sys.stdin.buffer.readline():
            ending, size, seconds = json.loads(head)
            until = math.ceil(time.process_time() + seconds)
            resource.setrlimit(resource.RLIMIT_CPU, (until, resource.getrlimit(resource.RLIMIT_CPU)[1]))
            raw = sys.stdin.buffer.read(size)
            answer: dict[str, Any]
            try:
                conversion = converter.convert_stream(io.BytesIO(raw), stream_info=StreamInfo(extension=ending))
                answer = {"text": conversion.markdown, "title": conversion.title or ""}
            except Exception as error:  # noqa: BLE001  # whatever a parser raises is reported to the caller
                answer = {"error": type(error).__name__}
            print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    serve()
