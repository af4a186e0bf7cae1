"""iFlow: `~/.iflow/projects/PROJECT/session-*.jsonl`, records of Claude Code's form.

Source: the registry of session formats of the vshulcz/deja-vu repository.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

from amgs.sessions.building import read_lines
from amgs.sessions.formats import claude_code
from amgs.sessions.lines import Record, text


class _Reading(claude_code.ClaudeReading):
    def __init__(self, path: Path, limit: int | None) -> None:
        super().__init__(path, limit)
        self.agent, self.format = "iFlow", "iflow"


read: Final = partial(read_lines, _Reading)


def recognises(path: Path, first: Sequence[Record]) -> bool:
    """Return whether records in Claude Code's form are in iFlow's folder, or have a session id like iFlow's
    (`session-…`); Claude Code's are UUIDs.
    """
    named = any(text(record.get("sessionId")).startswith("session-") for record in first)
    return (named or ".iflow" in path.parts) and claude_code.has_form(first)


FORMAT: Final = replace(
    claude_code.FORMAT,
    key="iflow",
    agent="iFlow",
    last_verified="",
    places=(".iflow/projects/**/*.jsonl",),
    recognises=recognises,
    read=read,
    read_end=read,
)
