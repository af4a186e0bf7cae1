"""Texts taken in, as raw blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amgs.errors import UsageError
from amgs.memory.open_memory import OpenMemory

if TYPE_CHECKING:
    from amgs.api.ingest import Intake
    from amgs.ingest.raw_blocks import RawBlock
    from amgs.types import IngestReport, Progress


class IntakeMethods(OpenMemory):
    """What takes texts in."""

    def add(
        self,
        what: str | Path,
        *,
        created_at: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
        progress: Progress | None = None,
    ) -> IngestReport:
        """Take in a text, a file or a folder of notes, as raw blocks for the next `consolidate`.

        what: a str is the text itself (markdown, split when it is long), never a path; a Path is a file, or a folder
        whose notes (`.md`, `.markdown`, `.rst`, `.org`, `.txt`) are all taken in. created_at: when a text was written;
        now unless it says so itself. meta: of a text: its source and whatever else belongs to it.

        What is there already is left alone and reported as known. Raises InputError for a text or file that cannot be
        taken in; what is unfit in a folder is named in the report. Raises UsageError for a date or meta of a path.
        """
        if isinstance(what, str):
            return self.ingest_text(what, created_at=created_at, meta=meta)
        if created_at is not None or meta is not None:
            raise UsageError(
                "A file brings its own date and metadata.",
                way_out="Put them into its front matter, or add its text.",
            )
        return self.ingest_folder(what, progress) if what.is_dir() else self.ingest_file(what)

    def ingest_text(
        self, text: str, *, created_at: datetime | None = None, meta: Mapping[str, Any] | None = None
    ) -> IngestReport:
        """Take in one piece of markdown, split when it is long; raises InputError when it is unfit."""
        return self._intake.text(text, created_at=created_at, meta=meta)

    def ingest_texts(self, given: Sequence[tuple[str, datetime | None, Mapping[str, Any]]]) -> IngestReport:
        """Take in texts, each with when it was written (None: now) and its metadata, all in one transaction or none;
        raises InputError for one that is unfit.
        """
        return self._intake.texts(given)

    def ingest_file(
        self, path: Path, *, created_at: datetime | None = None, meta: Mapping[str, Any] | None = None
    ) -> IngestReport:
        """Take in one file; a file that is missing or unfit raises InputError. created_at, meta: as for a folder."""
        return self._intake.file(path, created_at=created_at, meta=meta)

    def ingest_folder(
        self,
        folder: Path,
        progress: Progress | None = None,
        *,
        created_at: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> IngestReport:
        """Take in every file below a folder that has a reader (notes, pages, PDFs, mail, subtitles, chats, code),
        sorted; what is unfit is refused by name, the rest goes on.

        created_at: the instant of every text, whatever its file says. meta: metadata of every text, over what its file
        says; `tags` are added to the file's own.
        """
        return self._intake.folder(folder, progress, created_at=created_at, meta=meta)

    def ingest_many(self, drafts: Iterable[RawBlock], progress: Progress | None = None) -> IngestReport:
        """Take in drafts as they are, without splitting, in one transaction."""
        return self._intake.many(drafts, progress)

    @property
    def _intake(self) -> Intake:
        from amgs.api.ingest import Intake

        return Intake(self._context())
