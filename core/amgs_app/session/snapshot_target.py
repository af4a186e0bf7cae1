"""Where a run's snapshots go: their folder and size, and whether they are written or compared."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from amgs.errors import UsageError

if TYPE_CHECKING:
    from amgs_app.terminal.screen import Symbols

DEFAULT_SIZE = (120, 40)
LEAST_SIZE = (20, 4)
MOST_SIZE = 1000


@dataclass(slots=True)
class Target:
    """Where snapshots go.

    check: compare with the files in the folder instead of writing; differences: texts of the mismatches; same, changed:
    names of the compared snapshots. chosen: the folder was named by the operator.
    """

    folder: Path = Path()
    chosen: bool = False
    size: tuple[int, int] = DEFAULT_SIZE
    symbols: Symbols = "braille"
    check: bool = False
    differences: list[str] = field(default_factory=list)
    same: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)

    def summary(self) -> str:
        """Return the counts in words: `9 same, 1 differs`."""
        differ = len(self.changed)
        return f"{len(self.same)} same" + (f", {differ} {'differs' if differ == 1 else 'differ'}" if differ else "")


def read_size(text: str) -> tuple[int, int]:
    """Parse `120x40` as columns and lines; raises UsageError."""
    match = re.fullmatch(r"(\d+)[x×](\d+)", text.strip())
    if match is None or int(match[1]) < LEAST_SIZE[0] or int(match[2]) < LEAST_SIZE[1]:
        least = "{}x{}".format(*LEAST_SIZE)
        raise UsageError(f"Invalid size: {text!r}.", way_out=f"Give columns x lines, such as 120x40, at least {least}.")
    return min(int(match[1]), MOST_SIZE), min(int(match[2]), MOST_SIZE)


def read_symbols(text: str) -> Symbols:
    """Return the character set for pictures; raises UsageError for an unknown name."""
    for known in ("braille", "block", "ascii"):
        if text == known:
            return known
    raise UsageError(f"Unknown symbols: {text!r}.", way_out="Available: braille, block, ascii.")
