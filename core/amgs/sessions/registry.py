"""The formats of session files: the one list."""

from __future__ import annotations

from importlib import import_module
from typing import Final

from amgs.sessions.format import SessionFormat

_NAMES: Final = (
    "claude_bodies",
    "opencode",
    "claude_code",
    "codex",
    "gemini_cli",
    "copilot_cli",
    "atif",
    "cline",
    "aider",
)
"""Modules of `formats`, the one that is recognised most surely first."""

FORMATS: Final[tuple[SessionFormat, ...]] = tuple(
    import_module(f"amgs.sessions.formats.{name}").FORMAT for name in _NAMES
)
