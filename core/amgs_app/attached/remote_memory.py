"""The memory of a served engine: its methods are carried out there, files are read and written here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from amgs.errors import InputError, UsageError
from amgs.types import Progress
from amgs_app.attached.asks import ASKS, ReportHere
from amgs_app.attached.connection import AttachedConnection

if TYPE_CHECKING:
    from amgs.api.exchange import Exported, ForeignImport, Form, Imported
    from amgs.exchange.importers.records import ForeignFormat
    from amgs.ingest.raw_blocks import FolderContents
    from amgs.settings import IngestSettings
    from amgs.types import IngestReport, Progress


ASK_PATH = "/v1/attach/ask"


class RemotePart:
    """What stands under a path from the engine on: `memory`, `memory.lifecycle`, a method.

    Only what `ASKS` names can be asked; anything else raises UsageError before it is sent.
    """

    def __init__(self, connection: AttachedConnection, path: str) -> None:
        self._connection = connection
        self._path = path

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        path = f"{self._path}.{name}"
        known = ASKS.get(path)
        if known is not None and known.value:
            return self._ask(path)
        if known is not None or any(each.startswith(f"{path}.") for each in ASKS):
            return RemotePart(self._connection, path)
        raise UsageError(
            "This works on the files of the machine where the memory lies, and is not served.",
            title="Not while attached",
            way_out="Do it on that machine, without --connect, while nothing is served.",
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Carry the method out at the server; a Progress among the arguments is told what is told there."""
        return self._ask(self._path, *args, **kwargs)

    def _ask(self, path: str, /, *args: Any, **kwargs: Any) -> Any:
        progress = next((each for each in (*args, *kwargs.values()) if isinstance(each, Progress)), None)
        given = {
            "path": path,
            "args": [_sendable(each) for each in args],
            "kwargs": {name: _sendable(each) for name, each in kwargs.items()},
        }
        return self._connection.ask(ASK_PATH, given, progress)


def _sendable(value: Any) -> Any:
    return ReportHere() if isinstance(value, Progress) else value


class RemoteMemory(RemotePart):
    """See the module. reading: how files are split."""

    def __init__(self, connection: AttachedConnection, reading: IngestSettings) -> None:
        super().__init__(connection, "memory")
        self._reading = reading
        self.exchange = RemoteExchange(connection, "memory.exchange")
        self.sources = RemoteSources(connection, "memory.sources")

    def load(self, progress: Progress | None = None) -> None:
        """Nothing: the server loads its models itself."""

    def ingest_file(
        self, path: Path, *, created_at: datetime | None = None, meta: Mapping[str, Any] | None = None
    ) -> IngestReport:
        """Read one file here, and have its texts taken in there; raises InputError for one that is unfit."""
        from amgs.clock import as_utc
        from amgs.ingest.reading import read_file

        dated = None if created_at is None else as_utc(created_at)
        read = read_file(path, path.name, self._reading, dated=dated)
        if read.refused:
            raise InputError(
                f"{path} was not ingested: {read.refused[0].reason}.",
                way_out="Fix the file or choose another. Nothing was changed.",
            )
        return self._take_in(read, meta, None)

    def ingest_folder(
        self,
        folder: Path,
        progress: Progress | None = None,
        *,
        created_at: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> IngestReport:
        """Read every file below a folder here, and have the texts taken in there."""
        from amgs.clock import as_utc
        from amgs.ingest.reading import read_folder

        dated = None if created_at is None else as_utc(created_at)
        return self._take_in(read_folder(folder, self._reading, progress, dated=dated), meta, progress)

    def _take_in(
        self, read: FolderContents, meta: Mapping[str, Any] | None, progress: Progress | None
    ) -> IngestReport:
        from amgs.api.ingest import marked

        read = marked(read, meta or {})
        report: IngestReport = self._ask("memory.ingest_many", list(read.drafts), progress)
        refused = (*read.refused, *report.refused)
        return replace(report, refused=refused, skipped=read.skipped, warnings=read.warnings)


class RemoteSources(RemotePart):
    """The sources of a served memory; its texts have no files there."""

    def knows(self, path: Path) -> bool:
        """False: what was sent has no file at the server by which it would be known."""
        del path
        return False


class RemoteExchange(RemotePart):
    """Whole memories as files of this machine."""

    def export(self, path: Path, form: Form = "json") -> Exported:
        """Have the store written there, and write it to a file here."""
        from amgs.exchange.values import written

        told, data = self._ask("memory.exchange.export", form)
        replaced = path.exists()
        size = written(path, iter([data.decode()]))
        made: Exported = replace(told, path=str(path), bytes=size, replaced=replaced)
        return made

    def load(self, path: Path, progress: Progress | None = None) -> Imported:
        """Send an exported file to a store that holds nothing yet."""
        try:
            data = path.read_bytes()
        except OSError as error:
            raise UsageError(
                f"{path} cannot be read: {error.strerror}.", way_out="Give a file that `export` wrote."
            ) from error
        told: Imported = self._ask("memory.exchange.load", data, progress)
        return replace(told, path=str(path))

    def is_export(self, path: Path) -> bool:
        """Whether a file here begins as those that `export` writes."""
        from amgs.api.exchange import Exchange

        return Exchange.is_export(path)

    def load_foreign(
        self,
        path: Path | Sequence[Path],
        format: ForeignFormat | None = None,
        *,
        dry_run: bool = False,
        branches: bool = False,
        conversations: bool = True,
        progress: Progress | None = None,
    ) -> ForeignImport:
        """Read what other programs wrote here, and have it taken in there."""
        from amgs.exchange.importers.files import named, read_files

        paths = [path] if isinstance(path, Path) else list(path)
        told: ForeignImport = self._ask(
            "memory.exchange.load_foreign_documents",
            read_files(paths, format),
            format,
            path=paths[0].name if len(paths) == 1 else named(paths),
            dry_run=dry_run,
            branches=branches,
            conversations=conversations,
            progress=progress,
        )
        return replace(told, path=named(paths))
