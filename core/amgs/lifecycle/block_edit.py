"""Changing a block's metadata by hand, journalled like every lifecycle change; its content never changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from amgs.decay import check_lambda
from amgs.errors import UnknownBlockError, UsageError
from amgs.log import journal
from amgs.storage.protocol import Storage
from amgs.types import Block, Status

KIND = "edit"
_LONGEST_CATEGORY = 60
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
) -> Block:
    """Write what is given and keep the rest; returns the block as it is then.

    A pruned block loses its edges. Raises UnknownBlockError, and UsageError for a value out of range or a
    status that only the lifecycle gives.
    """
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
        journal.write(storage, KIND, now, f"{before.title}: {', '.join(told)}", rows)
        return after


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
