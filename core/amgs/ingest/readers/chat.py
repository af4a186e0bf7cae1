"""Read conversations in JSON Lines: a message per line (`role` and `content`, or `speaker`, `text` and `date`), or a
conversation per line (`messages` or `conversations`).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from amgs.clock import UNPLACED
from amgs.ingest.document import ParsedDocument, UnfitError, Utterance, decode
from amgs.text.intervals import note_date

_SPEAKER = ("speaker", "name", "author", "sender", "from", "user", "role")
_TEXT = ("text", "content", "message", "body", "value")
_DATE = ("date", "timestamp", "time", "created_at", "at", "ts", "datetime")
_LISTS = ("messages", "conversations", "conversation", "turns")
_QUESTION = "it is a question, not a message"
_MOST_TOLD = 5
_MILLISECONDS = 1e11
"""A larger number is a time in milliseconds since 1970, not seconds."""


def read(raw: bytes) -> ParsedDocument:
    """See `Reader`. Lines that are not messages are listed as warnings; a file without messages, or of test questions,
    is refused.
    """
    text, guess = decode(raw)
    turns: list[Utterance] = []
    wrong: list[tuple[int, str]] = []
    lines = [(n, line) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    for session, (number, line) in enumerate(lines, 1):
        try:
            turns += _of_line(json.loads(line), session)
        except (ValueError, RecursionError) as error:
            wrong.append((number, str(error) if isinstance(error, UnfitError) else "it is no JSON"))
    if not turns and wrong and all(why == _QUESTION for _, why in wrong):
        raise UnfitError("it holds questions with their answers, to test a memory with, and no text to remember")
    if not turns:
        raise UnfitError("none of its lines is a message with a text, as {role, content} or {speaker, text, date}")
    warnings = [guess] if guess else []
    warnings += [f"line {number} was left out: {why}" for number, why in wrong[:_MOST_TOLD]]
    if len(wrong) > _MOST_TOLD:
        warnings.append(f"{len(wrong) - _MOST_TOLD} more lines were left out")
    first = next((turn.at for turn in turns if turn.at is not None), None)
    return ParsedDocument(text, turns=tuple(turns), date=first, warnings=tuple(warnings), meta={"kind": "dialogue"})


def _of_line(record: Any, session: int) -> Iterator[Utterance]:
    """Yield the messages of a line. Raises UnfitError if it has none."""
    if not isinstance(record, Mapping):
        raise UnfitError("it is no object")
    inside = next((record[key] for key in _LISTS if isinstance(record.get(key), list)), None)
    if inside is not None:
        utterances = [
            m for entry in inside if isinstance(entry, Mapping) and (m := _message(entry, {"session": session}))
        ]
    else:
        utterance = _message(record, {})
        utterances = [utterance] if utterance else []
    if not utterances:
        raise UnfitError(_QUESTION if _text(record.get("question")) else "it holds no text")
    yield from utterances


def _message(record: Mapping[str, Any], meta: Mapping[str, Any]) -> Utterance | None:
    """Return a record as a message; None if it has no text."""
    text = next((t for key in _TEXT if (t := _text(record.get(key)))), "")
    if not text:
        return None
    speaker = next((_name(record[key]) for key in _SPEAKER if _name(record.get(key))), "")
    at = next((i for key in _DATE if (i := _instant(record.get(key))) is not None), None)
    return Utterance(speaker, text, at, meta)


def _text(value: Any) -> str:
    """Return a text, or the joined texts of a list of parts."""
    if isinstance(value, list):
        return "\n".join(t for part in value if (t := _text(part.get("text") if isinstance(part, Mapping) else part)))
    return value.strip() if isinstance(value, str) else ""


def _name(value: Any) -> str:
    if isinstance(value, Mapping):
        value = value.get("name")
    return " ".join(value.split())[:60] if isinstance(value, str) else ""


def _instant(value: Any) -> datetime | None:
    try:
        if isinstance(value, bool) or value is None:
            return None
        if isinstance(value, int | float):
            return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UNPLACED)
        at = note_date(value) if isinstance(value, str) else None
        return at.replace(tzinfo=UNPLACED) if at is not None and value.strip().endswith(("Z", "z")) else at
    except (OverflowError, ValueError, OSError):
        return None
