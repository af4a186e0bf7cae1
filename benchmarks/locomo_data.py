"""Reading conversations in LoCoMo's format, as protocol turn-R wants them: a block is one turn."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from amgs.errors import InputError
from amgs.ingest.raw_blocks import RawBlock

MULTI_HOP, TEMPORAL, OPEN_DOMAIN, SINGLE_HOP, ADVERSARIAL = 1, 2, 3, 4, 5
CATEGORIES: Mapping[int, str] = {
    MULTI_HOP: "multi-hop",
    TEMPORAL: "temporal",
    OPEN_DOMAIN: "open-domain",
    SINGLE_HOP: "single-hop",
    ADVERSARIAL: "adversarial",
}
"""Numbers as the files have them; adversarial questions ask one speaker for what the other said."""

_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True)
class LocomoQuestion:
    """A question with the sources of the turns that answer it; never empty. answer: "" where the file has none, as for
    adversarial questions.
    """

    text: str
    category: int
    evidence: tuple[str, ...]
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Conversation:
    """One conversation: its turns as drafts in order, its questions, and the day after its last session."""

    name: str
    drafts: tuple[RawBlock, ...]
    questions: tuple[LocomoQuestion, ...]
    now: datetime


def read_folder(folder: Path) -> tuple[Conversation, ...]:
    """Every conversation of a folder (or of one file), sorted by name; raises InputError when there is none.

    The queries, observations, summaries and events of the files are never read: they hold the answers.
    """
    if not folder.exists():
        raise InputError(
            f"There are no conversations at {folder}.",
            way_out="Give --data the folder that holds LoCoMo's files, one JSON file per conversation.",
        )
    files = [folder] if folder.is_file() else sorted(folder.glob("*.json"))
    found = [each for path in files for each in _read(path)]
    if not found:
        raise InputError(
            f"{folder} holds no file in LoCoMo's format.",
            way_out="It needs JSON files with `session_1`, `session_1_date_time` and `qa`.",
        )
    return tuple(found)


def _read(path: Path) -> list[Conversation]:
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}.") from error
    many = given if isinstance(given, list) else [given]
    named = [path.stem] if len(many) == 1 else [f"{path.stem}-{i}" for i in range(1, len(many) + 1)]
    return [
        made
        for name, one in zip(named, many, strict=True)
        if isinstance(one, dict) and (made := _conversation(name, one)) is not None
    ]


def _conversation(name: str, given: Mapping[str, Any]) -> Conversation | None:
    """The conversation; None where there are no sessions or no questions. The original release keeps the
    sessions one level down, under `conversation`.
    """
    inside = given.get("conversation")
    held: Mapping[str, Any] = inside if isinstance(inside, Mapping) else given
    numbers = sorted(int(m[1]) for key in held if (m := _SESSION.fullmatch(key)))
    drafts: list[RawBlock] = []
    now = datetime(1970, 1, 1, tzinfo=UTC)
    for number in numbers:
        written = str(held.get(f"session_{number}_date_time", ""))
        at = session_time(written)
        now = max(now, at + timedelta(days=1))
        drafts += _session(held[f"session_{number}"] or [], written, at)
    known = {str(draft.meta["source"]) for draft in drafts}
    asked = _questions(given.get("qa") or held.get("qa") or [], known)
    return Conversation(name, tuple(drafts), tuple(asked), now) if drafts and asked else None


def _session(turns: Sequence[Mapping[str, Any]], written: str, at: datetime) -> list[RawBlock]:
    drafts: list[RawBlock] = []
    for place, turn in enumerate(turns):
        found = _EVIDENCE.fullmatch(str(turn.get("dia_id", "")))
        if found is None or not str(turn.get("text", "")).strip():
            continue
        caption = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
        meta: dict[str, Any] = {
            "source": source_of(int(found[1]), int(found[2])),
            "speaker": str(turn["speaker"]),
            "date": written,
        }
        if drafts:
            meta["follows"] = drafts[-1].meta["source"]
        text = f"{turn['speaker']}: {turn['text']}{caption}\n({written})"
        drafts.append(RawBlock(text, at + timedelta(minutes=place), meta))
    return drafts


def _questions(given: Sequence[Mapping[str, Any]], known: set[str]) -> list[LocomoQuestion]:
    asked = []
    for one in given:
        named = _EVIDENCE.findall(" ".join(map(str, one.get("evidence") or ())))
        evidence = dict.fromkeys(source_of(int(session), int(turn)) for session, turn in named)
        there = tuple(source for source in evidence if source in known)
        if there:
            answer = str(one.get("answer", "")).strip()
            asked.append(LocomoQuestion(str(one["question"]), int(one["category"]), there, answer))
    return asked


def source_of(session: int, turn: int) -> str:
    """The source of a turn: a session is a file, a turn a part of it."""
    return f"session-{session}#{turn}"


def session_time(written: str) -> datetime:
    """ "1:56 pm on 8 May, 2023" as an instant in UTC; raises InputError for any other form."""
    try:
        return datetime.strptime(" ".join(written.split()), "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
    except ValueError as error:
        raise InputError(f"A session's date {written!r} is not written as '1:56 pm on 8 May, 2023'.") from error
