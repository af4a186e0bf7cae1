"""A mail message (RFC 5322): subject, people, date and body; of several bodies the plain one."""

from __future__ import annotations

import email
from dataclasses import replace
from datetime import datetime
from email.errors import MessageError
from email.message import EmailMessage, Message
from email.policy import EmailPolicy
from email.utils import getaddresses, parsedate_to_datetime
from typing import Any

from amgs.clock import aware
from amgs.ingest.document import ParsedDocument, Passage, UnfitError, decoded, unified
from amgs.ingest.readers import html
from amgs.ingest.readers.line_ranges import PassageList

_LONGEST = 10_000
"""Characters of a header that are read: taking one apart costs the square of its length."""


class _ShortHeaders(EmailPolicy):
    """Headers as far as they are read."""

    def header_source_parse(self, sourcelines: list[str]) -> tuple[str, str]:
        name, value = super().header_source_parse(sourcelines)
        return name, value[:_LONGEST]


def read(raw: bytes) -> ParsedDocument:
    """See `Reader`."""
    try:
        return _read(raw)
    except RecursionError as error:
        raise UnfitError("its parts or its headers are nested too deeply") from error


def _read(raw: bytes) -> ParsedDocument:
    # Policies are generic in the types alone.
    message: EmailMessage = email.message_from_bytes(raw, policy=_ShortHeaders())  # type: ignore[arg-type]
    if not message.keys():
        raise UnfitError("it is no mail: it has no header")
    body, kind = _body(message)
    made = html.document(body) if kind == "html" and body.strip() else _plain(body)
    head = _head(message)
    if not body.strip() and not head:
        raise UnfitError("it is empty")
    shift = len(head) + 2
    moved = (replace(p, start=p.start + shift, end=p.end + shift, line=0, last=0) for p in made.passages)
    attached = [part.get_filename() or part.get_content_type() for part in _attachments(message)]
    warnings: tuple[str, ...] = (f"its attachments were not read: {', '.join(attached)}",) if attached else ()
    long = dict.fromkeys(name for name, value in message.raw_items() if len(value) == _LONGEST)
    if long:
        warnings += (f"only the first {_LONGEST:,} characters were read of its headers {', '.join(long)}",)
    date, doubt = _date(message)
    return ParsedDocument(
        f"{head}\n\n{made.text}",
        (Passage(0, len(head)), *moved),
        title=_header(message, "subject"),
        date=date,
        meta=_meta(message),
        warnings=(*warnings, *doubt),
    )


def _plain(body: str) -> ParsedDocument:
    text = unified(body).strip("\n")
    found = PassageList(text)
    found.paragraphs(0, len(found.lines))
    return ParsedDocument(text, tuple(found.made))


def _body(message: EmailMessage) -> tuple[str, str]:
    """The text of a message, and whether it is "plain" or "html"."""
    part = message.get_body(preferencelist=("plain", "html"))
    if part is None:
        return "", "plain"
    try:
        text = part.get_content()
    except (LookupError, UnicodeError, MessageError, AttributeError, KeyError):
        raw = part.get_payload(decode=True)
        text = decoded(raw)[0] if isinstance(raw, bytes) else ""
    return str(text), part.get_content_subtype()


def _attachments(message: EmailMessage) -> list[Message]:
    try:
        return list(message.iter_attachments())
    except (AttributeError, TypeError, ValueError):
        return []


def _header(message: EmailMessage, name: str) -> str:
    try:
        return " ".join(str(message[name] or "").split())
    except (ValueError, IndexError, AttributeError, MessageError):
        return ""  # the standard library falls over some headers that are none


def _people(message: EmailMessage, *names: str) -> list[str]:
    """The names, else the addresses, of those in some headers."""
    found = getaddresses([_header(message, name) for name in names])
    return [name or address for name, address in found if name or address]


def _head(message: EmailMessage) -> str:
    """The line that a reader sees of a message: who wrote to whom about what."""
    author, to = ", ".join(_people(message, "from")), ", ".join(_people(message, "to", "cc"))
    told = "Mail" + (f" from {author}" if author else "") + (f" to {to}" if to else "")
    subject = _header(message, "subject")
    return f"{told}: {subject}" if subject else told if author or to else ""


def _date(message: EmailMessage) -> tuple[datetime | None, tuple[str, ...]]:
    written = _header(message, "date")
    if not written:
        return None, ()
    try:
        return aware(parsedate_to_datetime(written)), ()
    except (ValueError, TypeError, IndexError, OverflowError):
        return None, (f"its date {written[:80]} cannot be read; the file's time stands in",)


def _meta(message: EmailMessage) -> dict[str, Any]:
    said = {
        "author": ", ".join(_people(message, "from")),
        "to": _people(message, "to", "cc"),
        "message_id": _header(message, "message-id"),
        "in_reply_to": _header(message, "in-reply-to"),
    }
    return {key: value for key, value in said.items() if value}
