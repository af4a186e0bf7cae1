"""`memory.exchange`: export a whole memory to a file, and import it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from amgs.api.context import MemoryPart
from amgs.clock import local_now
from amgs.conversation import keeping
from amgs.errors import InputError, StoreCorruptError, StoreError, StoreTooNewError, UsageError
from amgs.exchange import forms, rows
from amgs.exchange.forms import Header, StoreDocument, build_damage_error, unreadable, write_whole
from amgs.exchange.importers.files import ForeignDocument, name_files, read_files, records_of
from amgs.exchange.importers.records import ForeignFormat, ForeignRecords, LeftOut
from amgs.frames import shipping
from amgs.identity import block_id
from amgs.incoming import check_ends
from amgs.ingest import raw_blocks
from amgs.ingest.raw_blocks import RawBlock
from amgs.lifecycle import upkeep
from amgs.log import journal
from amgs.masking import find_marks
from amgs.storage.store import Storage
from amgs.storage.tables import BATCH, TableColumn
from amgs.text.words import plural
from amgs.types import Progress

Form = Literal["json", "graphml"]

_OWN = ("store_id", "schema_version")
"""Keys of `meta` that belong to a store, not to its content."""


@dataclass(frozen=True, slots=True)
class Exported:
    """Result of an export. replaced: whether a file was replaced."""

    path: str
    form: Form
    blocks: int
    edges: int
    bytes: int
    replaced: bool = False


@dataclass(frozen=True, slots=True)
class Imported:
    """Result of an import."""

    path: str
    form: Form
    blocks: int
    edges: int
    rows: int


@dataclass(frozen=True, slots=True)
class RecordCount:
    """Numbers of records of a kind in a foreign file: found = taken + left out.

    blocks: different texts, after splitting long ones. stored: how many of these the memory contains; None if nothing
    was imported yet.
    """

    kind: str
    found: int
    taken: int
    left_out: int
    blocks: int
    stored: int | None = None


@dataclass(frozen=True, slots=True)
class ForeignImport:
    """Content of files of another memory, agent or chat program, and what was imported.

    path: the file or folder, or the number of files. format: several separated by commas. added, known: new blocks, and
    those already present. undated: blocks whose source has no time; they are dated at ingestion. superseded: blocks
    that the source marks as no longer valid. left_out: what was not imported, with place and reason. conversations:
    those created or continued. operation: journal entry; None for a dry run, or if everything was known. again: number
    of known ones that had been hidden and hold again. masked: kinds of masked secrets, each secret once.
    """

    path: str
    format: str
    dry_run: bool
    records: tuple[RecordCount, ...]
    added: int
    known: int
    undated: int
    superseded: int
    left_out: tuple[LeftOut, ...]
    conversations: tuple[str, ...] = ()
    operation: int | None = None
    again: int = 0
    masked: tuple[str, ...] = ()


class Exchange(MemoryPart):
    """`memory.exchange`: export and import of a whole memory."""

    def export(self, path: Path, form: Form = "json") -> Exported:
        """Write the whole store to a file, completely or not at all; raises InputError if it cannot be written."""
        storage = self._storage
        header = Header(storage.schema_version, storage.change_counter, self._now)
        replaced = path.exists()
        with storage.snapshot():
            lines = forms.json_lines(storage, header) if form == "json" else forms.graphml_lines(storage, header)
            size = write_whole(path, lines)
        blocks, edges = storage.tables.count("memory_blocks"), storage.tables.count("edges")
        return Exported(str(path), form, blocks, edges, size, replaced)

    @staticmethod
    def is_export(path: Path) -> bool:
        """Return whether a file begins like an export; raises InputError if it cannot be read."""
        return _looks_like_xml(path) or forms.is_document(path)

    def load(self, path: Path, progress: Progress | None = None) -> Imported:
        """Import an export into this empty store, in a single transaction.

        Types and ranges of all values are checked before the first row is written; then blocks are hashed again and
        references checked. Raises UsageError if the store contains blocks, StoreTooNewError for a file of a later
        version, StoreCorruptError for a block whose hash is not its id, InputError for any other file; then nothing is
        imported.
        """
        storage = self._storage
        if storage.tables.count("memory_blocks"):
            raise UsageError("The store already holds blocks.", way_out="Import into a new store.")
        form: Form = "graphml" if _looks_like_xml(path) else "json"
        store_document = forms.read_json(path) if form == "json" else forms.read_graphml(path)
        schema = storage.tables.schema()
        _check(path, store_document, schema, storage.schema_version)
        wrong = rows.complaints(store_document.tables, schema)
        if wrong:
            raise build_damage_error(path, "; ".join(wrong))
        total = 0
        try:
            with storage.transaction():
                counter = max(store_document.counter, storage.change_counter)
                for table in store_document.tables:
                    total += self._fill(table, store_document, progress)
                if "source_blocks" not in store_document.tables:
                    storage.sources.adopt()
                storage.sources.name_texts()
                storage.tables.set_counter(counter)
                _check_whole(path, storage, progress)
        except (StoreError, UsageError) as error:
            # An invalid value; a full disk or a changed block raises another error.
            if error.title in (StoreError.title, StoreCorruptError.title) or isinstance(error, UsageError):
                raise build_damage_error(path, error.message.rstrip(".")) from error
            raise
        self._context.derived.forget()
        counts = {name: len(list(rows)) for name, (_, rows) in store_document.tables.items()}
        return Imported(str(path), form, counts.get("memory_blocks", 0), counts.get("edges", 0), total)

    def load_foreign(
        self,
        path: Path | Sequence[Path],
        format: ForeignFormat | None = None,
        *,
        dry_run: bool = False,
        conversations: bool = True,
        progress: Progress | None = None,
    ) -> ForeignImport:
        """Import files of another memory, agent or chat program into any store, as a single ingest that can be undone.

        path: a file, a folder, or several of them. format: default: recognised by content. dry_run: only count.
        conversations: also store the conversations, like `conversation.add`. Raises InputError for a file that cannot
        be read, for unknown or several formats, or if nothing can be imported; then nothing is.
        """
        paths = [path] if isinstance(path, Path) else list(path)
        return self.load_foreign_documents(
            read_files(paths, format),
            format,
            path=name_files(paths),
            dry_run=dry_run,
            conversations=conversations,
            progress=progress,
        )

    def load_foreign_documents(
        self,
        documents: Sequence[ForeignDocument],
        format: ForeignFormat | None = None,
        *,
        path: str = "",
        dry_run: bool = False,
        conversations: bool = True,
        progress: Progress | None = None,
    ) -> ForeignImport:
        """Import parsed documents; see `load_foreign`. path: their name in the journal."""
        storage, now = self._storage, local_now(self._context.clock)
        settings = self._context.settings.ingest
        records = records_of(settings.mask(tuple(documents)), settings, format)
        drafts = _still_valid([raw_block for group in records.drafts.values() for raw_block in group])
        wanted = list(dict.fromkeys(block_id(raw_block.content) for raw_block in drafts))
        if not wanted:
            raise _nothing(path, records)
        known = storage.blocks.existing(wanted)
        new = keeping.assign_names(storage, records.conversations) if conversations else []
        foreign_import = ForeignImport(
            path,
            records.format,
            dry_run,
            (),
            len(wanted) - len(known),
            len(known),
            len({block_id(raw_block.content) for raw_block in drafts if raw_block.created_at is None}),
            len(
                {
                    block_id(raw_block.content)
                    for raw_block in drafts
                    if raw_block.valid_to is not None and raw_block.valid_to <= now
                }
            ),
            records.left_out,
            tuple(conversation.conversation for conversation in new),
            masked=find_marks(draft.content for draft in drafts),
        )
        if dry_run:
            return replace(foreign_import, records=_counts(records, None))
        origin = f"{records.format} ({path})" if path else records.format
        with storage.transaction():
            report = raw_blocks.ingest(storage, drafts, now, origin=origin, reread="file", progress=progress)
            operation = report.operation
            if new and operation is None:
                summary = f"{plural(len(new), 'conversation')} from {origin}"
                operation = journal.write(storage, raw_blocks.KIND, now, summary, []).id
            if operation is not None:
                keeping.keep(storage, new, operation, now.tzinfo)
        stored = storage.blocks.existing(wanted)
        counts = _counts(records, stored)
        return replace(foreign_import, records=counts, operation=operation, again=len(report.again))

    def _fill(self, table: str, store_document: StoreDocument, progress: Progress | None) -> int:
        storage = self._storage
        columns, every = store_document.tables[table]
        taken = [tuple(row) for row in every]
        if table == "memory_blocks":
            _rehash(columns, taken)
        if table == "meta":
            for key, value in taken:
                if key not in _OWN:
                    storage.meta.put(key, value)
            return len(taken)
        storage.tables.clear(table)
        for start in range(0, len(taken), BATCH):
            if progress is not None:
                progress(start, len(taken), f"importing {table}")
            storage.tables.insert(table, columns, taken[start : start + BATCH])
        return len(taken)


def _nothing(path: str, records: ForeignRecords) -> InputError:
    """Return the error for files in which no record becomes a block."""
    reasons = list(dict.fromkeys(f"{omission.kind}: {omission.reason}" for omission in records.left_out))
    more = f"; {len(reasons) - 5:,} more reasons" if len(reasons) > 5 else ""
    why = f": {'; '.join(reasons[:5])}{more}" if reasons else ": no file is there"
    return InputError(
        f"Nothing of {path or 'the document'} can be taken in{why}.",
        way_out="Choose another file; where its content does not tell, say which format it is.",
        about="import",
    )


def _still_valid(drafts: Sequence[RawBlock]) -> list[RawBlock]:
    """Return the drafts; a text that a record ends and another states is valid."""
    holds = {block_id(draft.content) for draft in drafts if draft.valid_to is None}
    return [replace(draft, valid_to=None) if block_id(draft.content) in holds else draft for draft in drafts]


def _counts(records: ForeignRecords, stored: set[str] | None) -> tuple[RecordCount, ...]:
    """Return the numbers of records of each kind. stored: ids of their blocks that the memory contains."""
    counts: list[RecordCount] = []
    for kind, count in records.found.items():
        ids = {block_id(draft.content) for draft in records.drafts[kind]}
        taken = records.count_taken(kind)
        here = None if stored is None else sum(id in stored for id in ids)
        counts.append(RecordCount(kind, count, taken, count - taken, len(ids), here))
    return tuple(counts)


def _looks_like_xml(path: Path) -> bool:
    check_ends(path)
    try:
        with path.open("rb") as file:
            return file.read(64).lstrip().startswith(b"<")
    except OSError as error:
        raise unreadable(path, error) from error


def _check_whole(path: Path, storage: Storage, progress: Progress | None) -> None:
    """Raise an error if the imported store would not pass `verify`; inside the importing transaction."""
    shipping.check_definitions(storage)
    faults = upkeep.faults(storage, progress)
    if faults:
        first = "; ".join(f"{fault.where}: {fault.what}" for fault in faults[:3])
        raise build_damage_error(path, f"{plural(len(faults), 'fault')}, {first}")


def _check(path: Path, store_document: StoreDocument, schema: dict[str, tuple[TableColumn, ...]], latest: int) -> None:
    """Raise an error for a file of a later schema, with tables or columns that the schema lacks, or without blocks."""
    if store_document.schema > latest:
        raise StoreTooNewError(
            f"The file has schema {store_document.schema}; this program knows schemas up to {latest}.",
            way_out="Update the program.",
        )
    if "change_counter" in store_document.tables:
        raise build_damage_error(path, "it holds a table of its own counter")
    for table, (columns, _) in store_document.tables.items():
        known = schema.get(table, ())
        if not known or any(table_column not in known for table_column in columns) or len(set(columns)) < len(columns):
            raise build_damage_error(path, f"no store has a table {table[:40]!r} with these columns")
    columns, _ = store_document.tables.get("memory_blocks", ((), ()))
    if not {"id", "content"} <= {column.name for column in columns}:
        raise build_damage_error(path, "it holds no table of blocks with their content")


def _rehash(columns: Sequence[TableColumn], rows: Sequence[tuple[Any, ...]]) -> None:
    names = [column.name for column in columns]
    at_id, at_content = names.index("id"), names.index("content")
    wrong = [row[at_id] for row in rows if block_id(row[at_content]) != row[at_id]]
    if wrong:
        first = str(wrong[0])[:12]
        fault = f"1 block of the file does not hash to its id, {first}"
        if len(wrong) > 1:
            fault = f"{len(wrong)} blocks of the file do not hash to their ids, {first} first"
        raise StoreCorruptError(
            f"{fault}.",
            title="The file was changed",
            way_out="Nothing was imported; export it again from the store it came from.",
        )
