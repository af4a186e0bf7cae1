"""Detect whether the program can draw on a screen."""

from __future__ import annotations

import os
import sys
from typing import IO, Literal

Symbols = Literal["braille", "block", "ascii"]
"""What a terminal can show: all of Unicode, only block and line characters, or only ASCII."""


def has_screen() -> bool:
    """Return whether the workstation can be drawn: on a terminal, or by a driver named in the environment."""
    return "TEXTUAL_DRIVER" in os.environ or (sys.stdin.isatty() and draws(sys.stdout))


def draws(out: IO[str]) -> bool:
    """Return whether output there may be coloured and redrawn: a terminal that is not "dumb"."""
    return out.isatty() and os.environ.get("TERM") != "dumb"
