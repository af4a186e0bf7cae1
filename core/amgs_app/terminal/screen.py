"""What the program stands in: a terminal that can be drawn on, or none."""

from __future__ import annotations

import os
import sys
from typing import Literal

Symbols = Literal["braille", "block", "ascii"]
"""What a terminal can show: every sign of Unicode, its blocks and lines alone, or ASCII alone."""


def has_screen() -> bool:
    """Whether there is something to draw on: a terminal, or a page that brings a driver of its own."""
    return "TEXTUAL_DRIVER" in os.environ or (sys.stdin.isatty() and sys.stdout.isatty())
