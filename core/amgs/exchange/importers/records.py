"""Importers and their results: drafts of blocks by kind of record, and records left out, with the reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, Protocol

from amgs.clock import EPOCH
from amgs.exchange.importers.parsing import Unread, instant, text, without_vectors
from amgs.identity import block_id, canonical
from amgs.ingest import metadata
from amgs.ingest.document import ParsedDocument, Passage, Utterance
from amgs.ingest.raw_blocks import RawBlock, fit
from amgs.ingest.reading import drafts_of
from amgs.sessions.lines import name
from amgs.settings import IngestSettings
from amgs.types.conversation import Message, Role

ForeignFormat = Literal["mem0", "chatgpt", "claude", "mcp", "messages"]

_LARGEST = 16_000
"""Most characters of JSON that are stored besides a record's text."""
_LONGEST_REASON = 200
_WHOLE = "the document"
"""Path for what concerns the whole document."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Records of a document that did not become blocks. path: such as `[0].mapping.a1`; count: number of
    such records.
    """

    kind: str
    path: str
    reason: str
    count: int = 1


@dataclass(frozen=True, slots=True)
class ForeignMessage:
    """A message of a conversation, as an importer found it. message: as stored in the conversation; None: built from
    the other fields.
    """

    path: str
    speaker: str
    text: str
    at: datetime | None = None
    meta: Mapping[str, Any] | None = None
    message: Message | None = None


@dataclass(frozen=True, slots=True)
class ForeignConversation:
    """A conversation. name: by its title, id or file, else "". messages: each with the ids of its blocks, numbered from
    1.
    """

    name: str
    messages: tuple[tuple[Message, tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class ForeignRecords:
    """Content of a document. found: numbers of records by kind, imported or left out. drafts: by kind."""

    format: str
    found: Mapping[str, int]
    drafts: Mapping[str, tuple[RawBlock, ...]]
    left_out: tuple[LeftOut, ...]
    conversations: tuple[ForeignConversation, ...] = ()

    def count_taken(self, kind: str) -> int:
        """Return the number of records of a kind that became blocks."""
        return self.found[kind] - sum(omission.count for omission in self.left_out if omission.kind == kind)


def join_records(file_records: Sequence[tuple[str, ForeignRecords]]) -> ForeignRecords:
    """Return the records of several files together, with paths that begin with the file's."""
    counts: Counter[str] = Counter()
    drafts: dict[str, tuple[RawBlock, ...]] = {}
    for _, records in file_records:
        counts.update(records.found)
        for kind, more in records.drafts.items():
            drafts[kind] = drafts.get(kind, ()) + more
    return ForeignRecords(
        ", ".join(sorted({records.format for _, records in file_records if records.format})),
        dict(counts),
        drafts,
        tuple(
            replace(left, path=_in_file(path, left.path)) for path, records in file_records for left in records.left_out
        ),
        tuple(conversation for _, records in file_records for conversation in records.conversations),
    )


def _in_file(path: str, place: str) -> str:
    return place if not path else path if place == _WHOLE else f"{path}: {place}"


class Records:
    """Collects what an importer finds; every record is counted once, as imported or left out."""

    def __init__(self, format: str, settings: IngestSettings) -> None:
        self._format = format
        self._settings = settings
        self._found: Counter[str] = Counter()
        self._drafts: dict[str, list[RawBlock]] = {}
        self._left: list[LeftOut] = []
        self._sources: Counter[str] = Counter()
        self._conversations: list[ForeignConversation] = []

    def result(self) -> ForeignRecords:
        """Return all that was collected."""
        drafts = {kind: tuple(self._drafts.get(kind, ())) for kind in self._found}
        conversations = tuple(self._conversations)
        return ForeignRecords(self._format, dict(self._found), drafts, tuple(self._left), conversations)

    def count(self, kind: str, count: int) -> None:
        """Count imported records of a kind that makes no blocks of its own."""
        self._found[kind] += count

    def leave(self, kind: str, path: str, reason: str, count: int = 1) -> None:
        """Report records that become no block."""
        self._found[kind] += count
        self._left.append(LeftOut(kind, path or _WHOLE, reason[:_LONGEST_REASON], count))

    def note(self, kind: str, path: str, reason: str, count: int = 1) -> None:
        """Report parts of imported records that were not imported as they are."""
        self._left.append(LeftOut(kind, path or _WHOLE, reason[:_LONGEST_REASON], count))

    def objects(self, kind: str, data: Any, path: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield the objects of a list with their paths; other items are reported."""
        if data is None:
            return
        if not isinstance(data, list):
            self.leave(kind, path, f"it is {_describe_kind(data)}, not a list")
            return
        for n, item in enumerate(data):
            here = f"{path}[{n}]"
            if isinstance(item, dict):
                yield here, item
            elif isinstance(item, Unread):
                self.leave(kind, f"line {item.line}", item.reason)
            else:
                self.leave(kind, here, f"it is {_describe_kind(item)}, not an object")

    def instant(self, value: Any, path: str) -> datetime | None:
        """Return a record's time; an unreadable time is reported."""
        moment = instant(value)
        if moment is None and value not in (None, ""):
            self.note("date", path, "it cannot be read as a time")
        return moment

    def original(self, record: Mapping[str, Any], path: str, *, without: Sequence[str] = ()) -> dict[str, Any]:
        """Return the rest of a record besides its text, to be stored unchanged as `original`; {} for none."""
        fields, vectors = without_vectors({k: v for k, v in record.items() if k not in without})
        if vectors:
            self.note("vector", path, "vectors are not taken; the memory makes its own")
        fields = {key: value for key, value in fields.items() if value not in (None, "", [], {})}
        if not fields:
            return {}
        try:
            fitted = metadata.fit({"original": fields})
            if len(repr(fitted)) > _LARGEST:
                raise ValueError(f"it has more than {_LARGEST:,} characters beside its text")
        except ValueError as error:
            self.note("metadata", path, str(error).removeprefix("its metadata holds ").strip())
            return {}
        return fitted

    def source(self, *parts: str) -> str:
        """Return a new source name, `mem0/<id>`; with ` (2)` added if it was used before."""
        source_name = "/".join((self._format, *(part.replace("#", " ") for part in parts if part)))
        self._sources[source_name] += 1
        return source_name if self._sources[source_name] == 1 else f"{source_name} ({self._sources[source_name]})"

    def fact(
        self,
        kind: str,
        path: str,
        content: Any,
        *,
        source: str,
        at: datetime | None,
        meta: Mapping[str, Any],
        title: str = "",
        valid_to: datetime | None = None,
    ) -> str:
        """Add a text, split if long; return the source of its last piece, "" if it is left out."""
        written = text(content)
        if written is None or not canonical(written):
            self.leave(kind, path, "it is empty" if written is not None else "it holds no text")
            return ""
        document = ParsedDocument(
            written, (Passage(0, len(written)),), title=title, meta={"imported_from": self._format} | dict(meta)
        )
        reading = drafts_of(document, source, EPOCH, self._settings, dated=at)
        drafts = [replace(draft, created_at=at, valid_to=valid_to) for draft in reading.drafts]
        if not self._take(kind, path, drafts):
            return ""
        return str(drafts[-1].meta["source"])

    def conversation(
        self,
        messages: Sequence[ForeignMessage],
        path: str,
        *,
        id: str = "",
        title: str = "",
        at: datetime | None = None,
        meta: Mapping[str, Any] | None = None,
        called: str = "",
    ) -> None:
        """Add the messages of a conversation in order.

        at: its beginning, for messages without a time. called: its name; default: title or id. A message without a time
        has that of the previous record; without any it is dated at ingestion.
        """
        turns: list[Utterance] = []
        paths: list[str] = []
        message_turns: list[tuple[Message, int]] = []
        last = at
        for foreign_message in messages:
            why = _unfit(foreign_message)
            if why:
                self.leave("message", foreign_message.path, why)
                if foreign_message.message is not None:
                    message_turns.append((foreign_message.message, 0))
                continue
            last = foreign_message.at or last
            turns.append(
                Utterance(foreign_message.speaker, foreign_message.text, last, dict(foreign_message.meta or {}))
            )
            paths.append(foreign_message.path)
            message_turns.append((foreign_message.message or _message(foreign_message), len(turns)))
        if not turns:
            self.leave("conversation", path, "none of its messages has a text that can be taken")
            return
        self._found["conversation"] += 1
        spoken = "\n".join(turn.text for turn in turns)
        source = self.source(id or f"conversation {block_id(spoken)[:12]}")
        common = {"kind": "dialogue", "imported_from": self._format} | dict(meta or {})
        if id:
            common["conversation"] = id
        document = ParsedDocument(spoken, turns=tuple(turns), title=title, meta=common)
        by_turn: dict[int, list[RawBlock]] = {n: [] for n in range(1, len(turns) + 1)}
        for draft in drafts_of(document, source, EPOCH, self._settings, dated=EPOCH).drafts:
            turn = int(draft.meta["turn"])
            by_turn[turn].append(replace(draft, created_at=turns[turn - 1].at))
        for turn, drafts in by_turn.items():
            self._take("message", paths[turn - 1], drafts)
        message_blocks = [
            (replace(message, number=n), tuple(block_id(block.content) for block in by_turn.get(turn, ())))
            for n, (message, turn) in enumerate(message_turns, 1)
        ]
        self._conversations.append(ForeignConversation(called or title or id, tuple(message_blocks)))

    def _take(self, kind: str, path: str, drafts: Sequence[RawBlock]) -> bool:
        try:
            fitted = [fit(draft) for draft in drafts]
        except ValueError as error:
            self.leave(kind, path, str(error))
            return False
        if not fitted:
            self.leave(kind, path, "it holds no text")
            return False
        self._found[kind] += 1
        self._drafts.setdefault(kind, []).extend(fitted)
        return True


def _message(message: ForeignMessage) -> Message:
    """Return a message without calls; its speaker is "" if that is only the name of its role."""
    role_name = str((message.meta or {}).get("role", "")).lower()
    role: Role = "user" if role_name in ("user", "human") else "system" if role_name == "system" else "assistant"
    own = message.speaker if message.speaker != speaker(role) else ""
    return Message(0, role, message.text, message.at, own)


def _unfit(message: ForeignMessage) -> str:
    if not canonical(message.text):
        return "it is empty"
    try:
        fit(RawBlock(message.text, meta=dict(message.meta or {})))
    except ValueError as error:
        return str(error)
    return ""


def _describe_kind(value: Any) -> str:
    kinds = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return kinds.get(type(value), "a number")


def speaker(role: Any, author: Any = None) -> str:
    """Return the speaker's name: the stated name, else the capitalised role."""
    roles = {"human": "User", "user": "User", "assistant": "Assistant", "ai": "Assistant"}
    own = name(author)
    role_name = name(role)
    return own or roles.get(role_name.lower(), role_name[:1].upper() + role_name[1:]) or "Unknown"


class Importer(Protocol):
    """Reads one format from parsed JSON. program: whose files these are."""

    name: ForeignFormat
    program: str

    def recognises(self, data: Any) -> bool:
        """Return whether the document has this format, by its content."""
        ...

    def read(self, data: Any, settings: IngestSettings) -> ForeignRecords:
        """Return the records of the document; what is not understood is reported, and nothing is raised."""
        ...
