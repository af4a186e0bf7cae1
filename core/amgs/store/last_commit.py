"""The last commit of a store, noted in a small file beside it: what was there is known without the database.

DuckDB takes a write-ahead file that was cut for one that ends there, and says nothing of what came after the cut. The
note is written after the commit is on disk, so it may lag behind the store (a process killed in between) and never runs
ahead of it. A store that is behind its note has lost changes.
"""

from __future__ import annotations

import contextlib
import json
import os
import zlib
from dataclasses import asdict, dataclass
from pathlib import Path

_BYTES = 256
"""One record of fixed length, overwritten in place: after a kill it is the old one or the new one."""


@dataclass(frozen=True, slots=True)
class LastCommit:
    """Where a store stood. store: its own id. changes: its change counter. operation: its latest journal entry."""

    store: str
    changes: int
    operation: int

    def beyond(self, found: LastCommit) -> str:
        """What `found`, the store as it is now, lacks of this, in words; empty when it lacks nothing."""
        lost = self.changes - found.changes
        if self.store != found.store or lost <= 0:
            return ""
        changes = "the last change" if lost == 1 else f"the last {lost:,} changes"
        first, last = found.operation + 1, self.operation
        if last < first:
            return f"{changes} (none in the journal)"
        entries = f"journal entry #{last}" if first == last else f"journal entries #{first}–#{last}"
        return f"{changes}, {entries}"


class Note:
    """The file beside one store."""

    def __init__(self, store: Path) -> None:
        self.path = Path(f"{store}.counter")
        self._file: int | None = None

    def read(self) -> LastCommit | None:
        """What was noted; None where there is no note, or none that can be trusted."""
        try:
            with self.path.open("rb") as file:
                body, _, check = file.read(_BYTES).rstrip().rpartition(b" ")
            if int(check, 16) != zlib.crc32(body):
                return None
            said = json.loads(body)
            return LastCommit(str(said["store"]), int(said["changes"]), int(said["operation"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def write(self, commit: LastCommit) -> None:
        """Note a commit that is on disk. Without room, or without leave to write, the note lags behind."""
        body = json.dumps(asdict(commit)).encode()
        record = (body + b" %08x" % zlib.crc32(body)).ljust(_BYTES - 1) + b"\n"
        with contextlib.suppress(OSError):
            if self._file is None:
                self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
            os.pwrite(self._file, record, 0)

    def close(self) -> None:
        """Let go of the file."""
        if self._file is not None:
            os.close(self._file)
            self._file = None
