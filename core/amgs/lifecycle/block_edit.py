"""Changing a block's metadata by hand, journalled like every lifecycle change; its content never changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from amgs.decay import check_lambda
from amgs.errors import UnknownBlockError, UsageError
from amgs.ingest.metadata import of_the_engine
from amgs.log import journal
from amgs.storage.store import Storage
from amgs.types import Block, Status

KIND = "edit"
_LONGEST_CATEGORY = 60
_LONGEST_KEY = 60
_LONGEST_VALUE = 2000
_OF_THEIR_OWN = frozenset(("tags", "note", "speaker", "source"))
_EDITABLE = ("category", "confidence", "decay_lambda", "is_self_component", "status")
_BY_HAND: tuple[Status, ...] = ("consolidated", "archived", "pruned")


def edit(
    storage: Storage,
    block_id: str,
    now: datetime,
    *,
    category: str | None = None,
    confidence: float | None = None,
    decay_lambda: float | None = None,
    is_self_component: bool | None = None,
    status: Status | None = None,
    meta: Mapping[str, str] | None = None,
) -> Block:
    """Write what is given and keep the rest; returns the block as it is then.

    meta: other metadata by key; an empty value takes the key away. A pruned block loses its edges. Raises
    UnknownBlockError, and UsageError for a value out of range, a status that only the lifecycle gives, or metadata that
    only the engine writes.
    """
    given = _checked_meta(meta or {})
    with storage.transaction():
        before = storage.blocks.get([block_id], embeddings=True).get(block_id)
        if before is None:
            raise UnknownBlockError(
                f"There is no block {block_id[:12]}.", way_out="Search for the block by its words."
            )
        after = replace(
            before,
            category=before.category if category is None else checked_category(category),
            confidence=before.confidence if confidence is None else checked_confidence(confidence),
            decay_lambda=before.decay_lambda if decay_lambda is None else check_lambda(decay_lambda),
            is_self_component=before.is_self_component if is_self_component is None else is_self_component,
            status=before.status if status is None else _status(before, status),
            meta={key: value for key, value in {**before.meta, **given}.items() if value != ""},
        )
        if after == before:
            return before
        storage.blocks.update([after])
        rows = [journal.block_row(before, after)]
        if after.status == "pruned":
            gone = storage.edges.touching([block_id])
            storage.edges.delete([e.key for e in gone])
            rows += [journal.edge_row(e, None) for e in gone]
        told = journal.changes(*({n: getattr(one, n) for n in _EDITABLE} for one in (before, after)))
        told += [f"{key}={value}" if value else f"no {key}" for key, value in given.items()]
        journal.write(storage, KIND, now, f"{before.title}: {', '.join(told)}", rows)
        return after


def _checked_meta(given: Mapping[str, str]) -> dict[str, str]:
    for key, value in given.items():
        if of_the_engine(key) or key in _OF_THEIR_OWN or not key.isprintable() or not key.strip():
            raise UsageError(
                f"The key {key!r} cannot be given by hand.", way_out="Give another key, or its own option."
            )
        if len(key) > _LONGEST_KEY or len(value) > _LONGEST_VALUE:
            raise UsageError(
                f"Metadata has at most {_LONGEST_KEY} characters a key and {_LONGEST_VALUE:,} a value.",
                way_out="Make a longer text a block of its own.",
            )
    return {key.strip().lower(): value.strip() for key, value in given.items()}


def checked_category(name: str) -> str:
    """The name without white space around it; raises UsageError for one that is none."""
    if not name.strip():
        raise UsageError("A category needs a name.", way_out="For example fact, person or decision.")
    if len(name) > _LONGEST_CATEGORY or not name.isprintable():
        raise UsageError(
            f"A category is one line of at most {_LONGEST_CATEGORY} visible characters.",
            way_out="For example fact, person or decision.",
        )
    return name.strip()


def checked_confidence(value: float) -> float:
    """The value itself; raises UsageError for one that is not in [0, 1]."""
    if not 0 <= value <= 1:
        raise UsageError(
            f"A confidence must be between 0 and 1, got {value:g}.",
            way_out="0 means certainly wrong, 1 certainly right.",
        )
    return value


def _status(before: Block, status: Status) -> Status:
    if status == before.status:
        return status
    if status not in _BY_HAND or (status == "consolidated" and before.embedding is None):
        raise UsageError(
            f"A block cannot be changed from {before.status} to {status} by hand.",
            way_out="Consolidation turns raw blocks into consolidated ones, and undo reverts it.",
        )
    return status
