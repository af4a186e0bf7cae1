"""Files in an object store, beside the datasets: put, listed and fetched whole."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Any

from amgs.index.lance.dataset import lance


class StoredFiles:
    """The files under an address such as s3://bucket/prefix, by their names below it."""

    def __init__(self, where: str) -> None:
        self._where = where

    def names(self) -> list[str]:
        """The names of all files."""
        return [str(name) for name in self._session.list()]

    def fetch(self, name: str, to: Path) -> None:
        """Write a file to this machine; raises OSError where it cannot be read."""
        self._session.download_file(name, str(to))

    def put(self, file: Path, name: str) -> None:
        """Keep a file under a name; raises OSError where it cannot be written."""
        self._session.upload_file(str(file), name)

    def remove(self, name: str) -> None:
        """Remove a file."""
        self._session.delete_file(name)

    @cached_property
    def _session(self) -> Any:
        lance()
        from lance.file import LanceFileSession

        return LanceFileSession(self._where)
