"""Requests that no method of `Memory` describes, or that differ from the method of their name: texts, plans that the
service keeps, and what is planned and carried out at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from amgs.client.ask import Ask, asking, operation, part, sending
from amgs.errors import UsageError

if TYPE_CHECKING:
    from amgs.calibration.recalibrate import Method
    from amgs.calibration.results import Calibrated
    from amgs.lifecycle.prune import Pruned
    from amgs.lifecycle.revision import Revision
    from amgs.types import (
        Block,
        IngestReceipt,
        JournalEntry,
        JournalPage,
        PlanApplied,
        ServedPlan,
    )


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


# --- planned and carried out at once ---------------------------------------------------------------------


def enhance(*, kinds: Sequence[str] = (), limit: int | None = None) -> Ask[JournalEntry]:
    """Carry out what `plan_enhancement` proposes, in one journal entry."""
    return operation("enhance", part("operation"), writes=True, kind=list(kinds) or None, limit=limit)


def prune(
    *, limit: int | None = None, threshold: float | None = None, lowest: float | None = None
) -> Ask[Pruned]:
    """Mark what is faded, peripheral, unused and of low confidence as pruned; `undo` brings it back."""
    return operation("prune", writes=True, limit=limit, threshold=threshold, lowest=lowest)


def calibrate(method: Method = "isotonic") -> Ask[Calibrated]:
    """Recalibrate the forecasts from their outcomes; `undo` takes it back."""
    return operation("calibrate", writes=True, method=method)


def update_source(name: str, text: str) -> Ask[Revision]:
    """Take in a source's new text, and end what it no longer says; `undo` takes it back."""
    return operation("source_update", writes=True, source=name, text=text)


def delete_sources(names: Sequence[str]) -> Ask[Revision]:
    """Take sources out: what no other source holds is archived; `undo` brings it back."""
    return operation("source_delete", writes=True, source=list(names))


def reinforce(ids: Sequence[str]) -> Ask[tuple[Block, ...]]:
    """Restart the decay clock of blocks, one logged event each; gives the blocks as they are then."""
    return operation("block_reinforce", part("blocks"), writes=True, blocks=list(ids))


# --- plans and the journal -------------------------------------------------------------------------------


def hold_consolidation(*, limit: int | None = None) -> Ask[ServedPlan]:
    """Plan a consolidation of the inbox, which the service keeps for an hour; changes nothing."""
    return _plan("consolidate", limit=limit)


def hold_enhancement(*, kinds: Sequence[str] = (), limit: int | None = None) -> Ask[ServedPlan]:
    """Plan what could be better, which the service keeps for an hour; changes nothing."""
    return _plan("enhance", kind=list(kinds) or None, limit=limit)


def hold_pruning(
    *, limit: int | None = None, threshold: float | None = None, lowest: float | None = None
) -> Ask[ServedPlan]:
    """Plan a pruning, which the service keeps for an hour; changes nothing."""
    return _plan("prune", limit=limit, threshold=threshold, lowest=lowest)


def hold_revision(source: str, text: str) -> Ask[ServedPlan]:
    """Plan what a source's new text would change, which the service keeps for an hour; changes nothing."""
    return _plan("revision", source=source, text=text)


def _plan(name: str, /, **arguments: Any) -> Ask[ServedPlan]:
    return sending("POST", f"/v1/plans/{name}", repeatable=True, **arguments)


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
