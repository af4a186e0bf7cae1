"""The rows a bench measures, one line of JSON each as it is measured, so that a run cut short goes on from there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from amgs.errors import InputError

Row = dict[str, Any]


class Ledger:
    """Rows by key, in `FOLDER/BENCH-DIGEST.jsonl`; the digest is of all that decides what is measured.

    The first line holds those settings, every other `{"key": …, …}`. A last line that was cut off is measured
    anew. Raises InputError when the file cannot be written.
    """

    def __init__(self, folder: Path, bench: str, settings: Mapping[str, Any]) -> None:
        told = json.dumps(settings, sort_keys=True, ensure_ascii=False, default=str)
        self.path = folder / f"{bench}-{hashlib.sha256(told.encode()).hexdigest()[:10]}.jsonl"
        self._rows: dict[str, Row] = {}
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if self.path.exists():
                self._read()
            else:
                self.path.write_text(f"{told}\n", encoding="utf-8")
        except OSError as error:
            raise InputError(
                f"{self.path} cannot be written ({error.strerror}).",
                way_out="Choose another folder with --out.",
            ) from error

    def once(self, key: str, measure: Callable[[], Row]) -> Row:
        """The row of a key: as it was measured before, else as it is measured now."""
        if key not in self._rows:
            row = measure()
            with self.path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, **row}, ensure_ascii=False) + "\n")
            self._rows[key] = row
        return self._rows[key]

    def get(self, key: str) -> Row | None:
        """The row of a key, where it was measured."""
        return self._rows.get(key)

    def __len__(self) -> int:
        return len(self._rows)

    def _read(self) -> None:
        whole = self.path.read_text(encoding="utf-8")
        kept = whole[: whole.rfind("\n") + 1]
        if kept != whole:
            self.path.write_text(kept, encoding="utf-8")
        for line in kept.splitlines()[1:]:
            row = json.loads(line)
            self._rows[row.pop("key")] = row
