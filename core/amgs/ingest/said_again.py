"""A text that was set aside, or no longer held, and is said again: it holds again, dated when it was said, and waits in
the inbox like any other; what had taken its place gives way to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from amgs.clock import as_utc
from amgs.log import journal
from amgs.storage.journal import JournalRow
from amgs.storage.store import Storage
from amgs.types import Block

_EVENT = "said again"
_PAST = ("superseded_by", "superseded_at", "merged_into", "split_into", "dates")
"""What was said of a text that came to its end; days are read again, from when it was said last."""


@dataclass(frozen=True, slots=True)
class HeldAgain:
    """What was said again. ids: what holds again. pairs: (before, after) of every block that changed. rows: of the
    journal, for edges and clocks.
    """

    ids: tuple[str, ...]
    pairs: tuple[tuple[Block, Block], ...]
    rows: tuple[JournalRow, ...]


def is_hidden(block: Block) -> bool:
    """Whether a text is in the memory and does not count: deleted, pruned, archived, superseded or over."""
    return block.superseded or block.status in ("archived", "pruned")


def hold_again(storage: Storage, said: Sequence[tuple[str, datetime]], now: datetime) -> HeldAgain:
    """Let texts hold again that were said (each with its instant, in order) and are hidden; inside the transaction.

    What was said before it ended says nothing of today.
    """
    seen = storage.blocks.get({block for block, _ in said})
    hidden = [block for block in seen.values() if is_hidden(block)]
    if not hidden:
        return HeldAgain((), (), ())
    present = storage.blocks.get([*_successors(storage, hidden), *seen], embeddings=True)
    first = dict(present)
    spoken: dict[str, datetime] = {}
    for name, at in said:
        block = present[name]
        if not is_hidden(block) or (block.valid_to is not None and block.valid_to >= at < now):
            continue
        rival = _rival(block, present)
        spoken[name] = min(at, now)
        present[name] = _renewed(block, at, now)
        if rival is not None:
            present[rival.id] = _ended(rival, name, min(at, now))
    pairs = tuple((first[name], block) for name, block in present.items() if block is not first[name])
    storage.blocks.update([after for _, after in pairs])
    again = list(spoken)
    storage.blocks.set_embeddings(again, None)
    storage.scores.forget([after.id for _, after in pairs])
    gone = storage.edges.touching(again) if again else ()
    storage.edges.delete([edge.key for edge in gone])
    rows = [journal.edge_row(edge, None) for edge in gone]
    for name, at in spoken.items():
        rows.append(journal.clock_row(first[name], _EVENT, at, ""))
        storage.blocks.reinforce([name], at)
        storage.reinforcements.append([name], _EVENT, at, "")
    return HeldAgain(tuple(again), pairs, tuple(rows))


def _successors(storage: Storage, hidden: Sequence[Block]) -> set[str]:
    """What took the place of blocks, what took the place of that, and so on."""
    found: set[str] = set()
    asked = {str(block.meta["superseded_by"]) for block in hidden if "superseded_by" in block.meta}
    while asked := asked - found:
        found |= asked
        blocks = storage.blocks.get(asked).values()
        asked = {str(block.meta["superseded_by"]) for block in blocks if "superseded_by" in block.meta}
    return found


def _rival(block: Block, present: dict[str, Block]) -> Block | None:
    """What holds in the place of a block; None where nothing does."""
    passed = {block.id}
    while (after := present.get(str(block.meta.get("superseded_by")))) is not None and after.id not in passed:
        if not is_hidden(after):
            return after
        passed.add(after.id)
        block = after
    return None


def _renewed(block: Block, at: datetime, now: datetime) -> Block:
    """The block as a text that comes in: consolidation looks at it anew."""
    made = max(at, block.created_at)
    return Block(
        block.id,
        block.content,
        made,
        block.last_reinforced_at,
        meta={key: value for key, value in block.meta.items() if key not in _PAST},
        valid_from=now if made > now else None,
    )


def _ended(block: Block, by: str, at: datetime) -> Block:
    at = max(at, min(block.valid_from or block.created_at, at))
    marks = {"superseded_by": by, "superseded_at": as_utc(at).isoformat()}
    status = "archived" if block.status == "raw" else block.status
    return replace(block, status=status, valid_to=at, meta={**block.meta, **marks})
