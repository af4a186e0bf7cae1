"""Read files and folders of other programs: agents' session files, and JSON of the other formats."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from amgs.errors import InputError
from amgs.exchange.importers.chats import ChatGPTImporter, ClaudeImporter
from amgs.exchange.importers.memories import McpGraphImporter, Mem0Importer
from amgs.exchange.importers.parsing import parse
from amgs.exchange.importers.records import (
    ForeignFormat,
    ForeignMessage,
    ForeignRecords,
    Importer,
    LeftOut,
    Records,
    join_records,
    speaker,
)
from amgs.exchange.importers.transcripts import TranscriptImporter
from amgs.sessions.conversation import SessionConversation, conversations_in
from amgs.sessions.lines import unreadable
from amgs.sessions.messages import call_text
from amgs.sessions.opening import FORMATS
from amgs.settings import IngestSettings

IMPORTERS: tuple[Importer, ...] = (
    Mem0Importer(),
    ChatGPTImporter(),
    ClaudeImporter(),
    McpGraphImporter(),
    TranscriptImporter(),
)


def read_document(data: Any, settings: IngestSettings, format: ForeignFormat | None = None) -> ForeignRecords:
    """Return the records of a parsed document, in the named format or the recognised format.

    Raises InputError for an unknown format, several formats, or no records.
    """
    importer = _find_importer(format) if format is not None else recognise_importer(data)
    records = importer.read(data, settings)
    if not records.found:
        raise InputError(
            f"Nothing was found in the document that a file of {importer.program} has.",
            way_out="Choose another format, or another file.",
            about="import",
        )
    return records


def _find_importer(format: str) -> Importer:
    importer = next((candidate for candidate in IMPORTERS if candidate.name == format), None)
    if importer is None:
        names = ", ".join(candidate.name for candidate in IMPORTERS)
        raise InputError(f"{format!r} is no format that can be imported.", way_out=f"Choose one of: {names}.")
    return importer


def recognise_importer(data: Any) -> Importer:
    """Return the importer for a document by its content; raises InputError for none or several."""
    fits = [importer for importer in IMPORTERS if importer.recognises(data)]
    if len(fits) == 1:
        return fits[0]
    if fits:
        names = " and ".join(importer.name for importer in fits)
        raise InputError(
            f"The document could be of several formats: {names}.", way_out="Say which of them it is.", about="import"
        )
    agents = dict.fromkeys(session_format.agent for session_format in FORMATS)
    exports = [importer.program for importer in IMPORTERS[:-1]]
    raise InputError(
        f"The document is of no known format: it is no session of {', '.join(agents)}, "
        f"no export of {', '.join(exports)}, and no list of messages in the style of OpenAI or Anthropic.",
        way_out="Say which format it is, or take the text in as a note.",
        about="import",
    )


def read_session(session: SessionConversation, settings: IngestSettings, called: str) -> ForeignRecords:
    """Return a block for each message of a session, split if long.

    called: name of its conversation. Every record and turn is counted as imported or left out, with the reason.
    """
    records = Records(session.format, settings)
    for kind, all_of_it, others in (
        ("record", session.records, session.other_records),
        ("turn", session.turns, session.other_turns),
    ):
        for what, count in others:
            records.leave(kind, "", what, count)
        records.count(kind, all_of_it - sum(count for _, count in others))
    for what, count in session.mended:
        records.note("tool call", "", f"{what}, stored as text", count)
    messages: list[ForeignMessage] = []
    for turn in session.messages:
        message = turn.message
        calls = [call_text(call.name, call.arguments) for call in message.calls]
        text = "\n\n".join(part for part in (message.text, *calls) if part.strip())
        who = message.speaker or speaker(message.role)
        meta: dict[str, object] = {"role": message.role, "line": turn.line}
        messages.append(ForeignMessage(f"line {turn.line}", who, text, message.at, meta, message=message))
    if messages:
        about = {"agent": session.agent}
        records.conversation(messages, "", id=session.id, title=session.title, meta=about, called=called)
    return records.result()


_ENDINGS: Final = frozenset(
    {
        *(".json", ".jsonl", ".ndjson", ".zst", ".gz"),
        *(Path(place).suffix for session_format in FORMATS for place in session_format.places),
    }
)
"""Suffixes of files in a folder that are examined."""


@dataclass(frozen=True, slots=True)
class ForeignDocument:
    """Content of a file.

    data: its JSON. session: in a session file. left_out: reason for leaving out a file of a folder.
    """

    path: str
    data: Any = None
    session: SessionConversation | None = None
    left_out: str = ""


def read_files(paths: Sequence[Path], format: ForeignFormat | None = None) -> list[ForeignDocument]:
    """Return the documents in files, and in all files below folders, by name.

    format: of files that are not session files. Files of a folder that are not imported are listed with the reason.
    Raises InputError for a named file that cannot be read or is of an unknown format.
    """
    documents: list[ForeignDocument] = []
    for path in paths:
        if path.is_dir() and not _is_session(path):
            documents += _folder(path, format)
        else:
            documents += _file(path, format)
    return documents


def name_files(paths: Sequence[Path]) -> str:
    """Return a common name for files."""
    return str(paths[0]) if len(paths) == 1 else f"{len(paths):,} files and folders"


def records_of(
    documents: Sequence[ForeignDocument], settings: IngestSettings, format: ForeignFormat | None = None
) -> ForeignRecords:
    """Return the records of documents, combined if there are several; then each file is counted.

    Raises InputError for an unknown format, several formats, or no records.
    """
    taken = [document for document in documents if not document.left_out]
    records = [(document.path, _records(document, settings, format)) for document in taken]
    if len(documents) == 1 and records:
        return records[0][1]
    left = [LeftOut("file", document.path, document.left_out) for document in documents if document.left_out]
    files = {"file": len({document.path for document in documents})}
    return join_records([*records, ("", ForeignRecords("", files, {"file": ()}, tuple(left)))])


def _records(document: ForeignDocument, settings: IngestSettings, format: ForeignFormat | None) -> ForeignRecords:
    stem = Path(document.path).stem
    if document.session is not None:
        own = document.path.endswith(".jsonl")  # users see a session file's name
        return read_session(document.session, settings, stem if own else document.session.id)
    records = read_document(document.data, settings, format)
    named = tuple(replace(conversation, name=conversation.name or stem) for conversation in records.conversations)
    return replace(records, conversations=named)


def _is_session(folder: Path) -> bool:
    """Return whether a folder as a whole is a session."""
    return any(session_format.recognises(folder, ()) for session_format in FORMATS)


def _folder(folder: Path, format: ForeignFormat | None) -> Iterator[ForeignDocument]:
    """Yield the documents in a folder and those below it; links to folders are not followed."""
    try:
        paths = sorted(folder.iterdir())
    except OSError as error:
        raise unreadable(folder, error) from error
    for path in paths:
        if not path.is_dir() or _is_session(path):
            yield from _read_documents(path, format)
        elif path.is_symlink():
            yield ForeignDocument(str(path), left_out="it is a link to a folder")
        else:
            yield from _folder(path, format)


def _read_documents(path: Path, format: ForeignFormat | None) -> list[ForeignDocument]:
    """Return the documents in a file of a folder, or why it is left out."""
    if not path.is_dir() and path.suffix not in _ENDINGS:
        return [ForeignDocument(str(path), left_out="it is of no known format")]
    try:
        documents = _file(path, format)
        if format is None and documents[0].session is None:
            recognise_importer(documents[0].data)
    except InputError as error:
        reason = error.message.removeprefix(f"{path} ").removeprefix("The document ")
        return [ForeignDocument(str(path), left_out=f"it {reason.partition(': it is no session')[0].rstrip('.')}")]
    return documents


def _file(path: Path, format: ForeignFormat | None) -> list[ForeignDocument]:
    conversations = list(conversations_in(path))
    if not any(conversation.turns for conversation in conversations):
        data = parse(path)
        if not conversations or any(importer.recognises(data) for importer in IMPORTERS):
            return [ForeignDocument(str(path), data)]
    if format is not None:
        raise InputError(
            f"{path} is a session of {conversations[0].agent}, and no file of {format}.",
            way_out="Leave the format out: session files are recognised.",
        )
    return [ForeignDocument(str(path), session=conversation) for conversation in conversations]
