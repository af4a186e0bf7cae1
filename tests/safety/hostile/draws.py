"""What the hostile harnesses draw from, and how a draw that never ends is noticed."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

PATIENCE_SECONDS = 60

WORDS: tuple[str, ...] = (
    "",
    " ",
    "漢" * 100,
    "🙂" * 64,
    "é" * 130 + "/x",
    "x" * 10_000,
    "a\x00b",
    "two\nlines",
    "\x1b[31mred\x1b]0;owned\x07",
    "\x9b31m\u202eback",
    "\ud800",
    ".",
    "..",
    "../..",
    "/",
    "/etc/passwd",
    "/nowhere/at/all",
    "~",
    "C:\\con",
    "--now",
    "--",
    "-",
    "-1",
    "--help",
    "L0#3",
    "L1#0",
    "L99#99999999999999999999",
    "#0",
    "0",
    "1",
    "3-5",
    "5..2",
    "-0",
    "999999999999999999999999",
    "-999999999999999999999999",
    "1e308",
    "1e999",
    "NaN",
    "inf",
    "0x10",
    "٣",
    "½",
    "@0",
    "@1",
    "@99999",
    "@-1",
    "@",
    "abc",
    "deadbeef",
    '{"a": [1, null]}',
    "[[[[[[",
    "null",
    "true",
    "none",
    "👩‍👧",
    "שלום",
    "'; DROP TABLE memory_blocks; --",
    '"',
    "'",
    "\\",
    "`ls`",
    "$(ls)",
    "*",
    "?",
    "%s%n",
    "a=b",
    "a,b,c",
    ".2,.2,.2,.2,.2",
    "nan,0,0,0,1",
    "SELF",
    "self:2",
    "2026-03-01",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "2026-13-45",
    "tomorrow",
    "inbox",
    "observatory",
    "tiny",
    "conf>.5 age<3d",
    "status:raw",
    "con",
    "\ufeff",
    "\u2028",
)
"""Arguments that no verb expects, or that mean something in another place."""


@dataclass
class Draws:
    """How many draws to make, and what they are drawn with. One seed gives one run."""

    count: int
    seed: str

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)


class TooLong(BaseException):
    """A draw did not come back: no Exception, so that nothing under test can swallow it."""


@contextmanager
def patience(seconds: int = PATIENCE_SECONDS) -> Iterator[None]:
    """Break off what does not come back."""

    def ring(signum: int, frame: object) -> None:
        del signum, frame
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def everything_in(folder: Path, *, without: tuple[str, ...] = ()) -> dict[str, object]:
    """What lies in a folder: the bytes of files, the targets of links, the kind of all else."""
    held: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if name in without:
            continue
        if path.is_symlink():
            held[name] = f"link to {path.readlink()}"
        else:
            held[name] = path.read_bytes() if path.is_file() else oct(path.stat().st_mode)
    return held
