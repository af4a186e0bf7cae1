"""Detect the program's screen: a terminal that can be drawn on, or none."""

from __future__ import annotations

import os
import sys
from typing import IO, Literal

Symbols = Literal["braille", "block", "ascii"]
"""What a terminal can show: every sign of Unicode, its blocks and lines alone, or ASCII alone."""


def has_screen() -> bool:
    """Return whether there is something to draw on: a terminal, or a page that brings a driver of its own."""
    return "TEXTUAL_DRIVER" in os.environ or (sys.stdin.isatty() and draws(sys.stdout))


def draws(out: IO[str]) -> bool:
    """Return whether what is written there may be coloured and drawn over: a terminal that can do more than write
    on.
    """
    return out.isatty() and os.environ.get("TERM") != "dumb"
