"""Requests that no method of `Memory` describes, or that differ from the method of their name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from amgs.client.ask import Ask, asking, operation, part, sending
from amgs.errors import UsageError

if TYPE_CHECKING:
    from amgs.types import Block, IngestReceipt, JournalPage, PlanApplied, ServedPlan


# --- texts -----------------------------------------------------------------------------------------------


def ingest(
    content: str | Sequence[str | Mapping[str, Any]],
    *,
    occurred_at: datetime | None = None,
    speaker: str = "",
    source: str = "",
    tags: Sequence[str] = (),
    meta: Mapping[str, Any] | None = None,
) -> Ask[IngestReceipt]:
    """Take in a text or many, all of them or none; they wait in the inbox for `consolidate`.

    content: a text, or a list of texts, each a str or a mapping with `content` and any of what follows. occurred_at:
    when it happened or was written, now unless given. What is known already is left alone, so that a request can be
    repeated. Returns only after the memory has it on disk. Raises InputError for a text that cannot be taken in.
    """
    texts = content if isinstance(content, str) else list(content)
    return sending(
        "POST",
        "/v1/memory/ingest",
        repeatable=True,
        content=texts,
        occurred_at=occurred_at,
        speaker=speaker or None,
        source=source or None,
        tags=tuple(tags) or None,
        meta=meta or None,
    )


def add(
    what: str, *, created_at: datetime | None = None, meta: Mapping[str, Any] | None = None
) -> Ask[IngestReceipt]:
    """Take in a text, as `Memory.add` does; a file or a folder is read where it lies."""
    if not isinstance(what, str):
        raise UsageError(
            "A served memory takes texts.",
            way_out="Send the file's text, or ingest the folder where the memory is.",
        )
    return ingest_texts([(what, created_at, meta or {})])


def ingest_text(
    text: str, *, created_at: datetime | None = None, meta: Mapping[str, Any] | None = None
) -> Ask[IngestReceipt]:
    """Take in one piece of markdown, split when it is long; raises InputError when it is unfit."""
    return ingest_texts([(text, created_at, meta or {})])


def ingest_texts(given: Sequence[tuple[str, datetime | None, Mapping[str, Any]]]) -> Ask[IngestReceipt]:
    """Take in texts, each with when it was written (None: now) and its metadata, all of them or none."""
    return ingest([_item(*each) for each in given])


def _item(text: str, at: datetime | None, meta: Mapping[str, Any]) -> dict[str, Any]:
    named = {name: meta[name] for name in ("speaker", "source", "tags") if name in meta}
    rest = {name: str(value) for name, value in meta.items() if name not in named}
    return {
        "content": text,
        **named,
        **({"occurred_at": at} if at else {}),
        **({"meta": rest} if rest else {}),
    }


def reinforce(ids: Sequence[str]) -> Ask[tuple[Block, ...]]:
    """Restart the decay clock of blocks, one logged event each; gives the blocks as they are then."""
    return operation("block_reinforce", part("blocks"), writes=True, blocks=list(ids))


# --- plans and the journal -------------------------------------------------------------------------------


def hold_revision(source: str, text: str) -> Ask[ServedPlan]:
    """Plan what a source's new text would change, which the service keeps for an hour; changes nothing."""
    return sending("POST", "/v1/plans/revision", repeatable=True, source=source, text=text)


def apply_plan(plan: ServedPlan, *, even_if_changed: bool = False) -> Ask[PlanApplied]:
    """Carry a plan out, in one transaction that `undo` takes back.

    Raises StaleError, whose `changed` are the journal entries since, where the memory is not the one that it was made
    from.
    even_if_changed: apply it if it still fits, whatever else has changed.
    """
    ask = sending("POST", f"/v1/plans/{plan.id}/apply")
    wanted = "*" if even_if_changed else f'"{plan.change_counter}"'
    return replace(ask, headers={"If-Match": wanted})


def journal(limit: int = 50, offset: int = 0) -> Ask[JournalPage]:
    """A page of what was changed, the newest first."""
    return asking("/v1/journal", limit=limit, offset=offset)
