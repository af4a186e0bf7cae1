"""A whole memory: its status, health and verification; and removal of blocks so that nothing of their text
remains.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from amgs.api.context import MemoryContext, MemoryPart
from amgs.api.lifecycle import Lifecycle
from amgs.calibration.tuning import BRIER_GOAL
from amgs.errors import AmgsError
from amgs.exchange import rows
from amgs.frames import shipping
from amgs.lifecycle import consolidate
from amgs.lifecycle import erase as erasing
from amgs.lifecycle import erase as masking
from amgs.lifecycle import upkeep as sound
from amgs.lifecycle.erase import ErasurePlan, ErasureReceipt, SecretScan
from amgs.lifecycle.upkeep import Due
from amgs.storage.frames import AssemblyRecord
from amgs.storage.store import Storage
from amgs.text.words import plural
from amgs.types import Fault, Forecast, Health, HealthLine, JournalEntry, Progress, StoreStatus, Verification
from amgs.types.health import Standing, StoreTopology, entropy

_DAYS = 7.0
"""Days ahead considered for decay."""
_FULL = 0.95
"""Share of its budget from which a frame counts as full."""
_SPLIT = 0.25
"""Share of isolated blocks, or of faded edges, from which the graph needs attention."""


def status(context: MemoryContext) -> StoreStatus:
    """Return the status of the whole memory."""
    now = context.clock.now()
    _, outcomes, score = context.storage.forecasts.counts()
    categories = context.storage.blocks.by_category()
    consolidated = context.storage.journal.last_of(consolidate.KIND)
    blocks = context.storage.blocks.by_status()
    return StoreStatus(
        path=context.storage.path,
        schema_version=context.storage.schema_version,
        change_counter=context.storage.change_counter,
        blocks=blocks,
        categories=categories,
        edges=context.storage.edges.count(),
        frames=len(context.definitions()),
        mean_relevance=context.storage.blocks.mean_relevance(now),
        last_consolidation=None if consolidated is None else consolidated.at,
        brier=score,
        outcomes=outcomes,
        now=now,
        diversity=entropy(categories.values()),
        topology=topology(context, sum(blocks.values())),
    )


def health(context: MemoryContext) -> Health:
    """Return the health of each area: inbox, consolidation, graph, diversity, decay, review, calibration, budget."""
    now, storage, threshold = context.clock.now(), context.storage, context.settings.decay.threshold
    life = Lifecycle(context)
    due, ahead = life.due(), life.forecast(days=_DAYS, limit=1)
    _, outcomes, score = storage.forecasts.counts()
    block_count = storage.blocks.by_status().get("consolidated", 0)
    last = storage.assemblies.latest(1)
    lines = (
        of_inbox(due),
        of_consolidation(due, now),
        of_graph(block_count, storage.edges.count(), storage.edges.alone(), storage.edges.count_faded(now, threshold)),
        of_diversity(storage.blocks.by_category()),
        of_decay(ahead, block_count),
        *of_centrality(context),
        of_review(storage.reviews.waiting()),
        of_calibration(score, outcomes, context.settings.calibration.fewest_outcomes),
        of_budget(last[0] if last else None),
    )
    return Health(now, lines)


def of_inbox(due: Due) -> HealthLine:
    """Report whether blocks wait in the inbox, and whether for too long."""
    standing: Standing = "act" if due.due else "watch" if due.waiting else "well"
    finding = due.because if due.waiting else "empty"
    return HealthLine("inbox", standing, finding, "consolidate plan" if due.waiting else "ingest")


def of_consolidation(due: Due, now: datetime) -> HealthLine:
    """Report the time of the last consolidation."""
    if due.last is None:
        return HealthLine("consolidation", "act" if due.waiting else "unknown", "never", "consolidate")
    return HealthLine("consolidation", "watch" if due.due else "well", _ago(due.last, now), "operations")


def _ago(at: datetime, now: datetime) -> str:
    days = (now - at).total_seconds() / 86400
    return "today" if days < 1 else "yesterday" if days < 2 else f"{days:.0f} days ago"


def of_graph(blocks: int, edges: int, alone: int, faded: int) -> HealthLine:
    """Report how connected the blocks are: isolated ones, and edges too weak to be walked."""
    if not blocks:
        return HealthLine("graph", "unknown", "no blocks yet", "consolidate")
    if not edges:
        return HealthLine("graph", "act", f"{plural(blocks, 'block')}, no edges", "enhance")
    loose = alone / blocks >= _SPLIT or faded / edges >= _SPLIT
    finding = f"{plural(alone, 'block')} alone, {faded / edges:.0%} of {plural(edges, 'edge')} faded"
    return HealthLine("graph", "watch" if loose else "well", finding, "enhance" if loose else "graph stats")


def of_diversity(categories: Mapping[str, int]) -> HealthLine:
    """Report how evenly the blocks are distributed over categories, by entropy and its maximum (AMGS §7.5)."""
    if not categories:
        return HealthLine("diversity", "unknown", "no blocks yet", "consolidate")
    spread, blocks = entropy(categories.values()), sum(categories.values())
    largest = max(categories, key=lambda name: (categories[name], name))
    finding = f"{spread.bits:.2f} of {spread.most:.2f} bits over {plural(len(categories), 'category', 'categories')}"
    finding += f", {categories[largest] / blocks:.0%} {largest or 'none'}"
    return HealthLine("diversity", "well", finding, "metrics")


def of_decay(ahead: Forecast, blocks: int) -> HealthLine:
    """Report what is above the threshold and what drops below it next; it needs attention if useful blocks drop or most
    have faded.
    """
    if not blocks:
        return HealthLine("decay", "unknown", "no blocks yet", "consolidate")
    faded = 2 * ahead.already_below > blocks
    finding = f"{ahead.already_below:,} of {blocks:,} below {ahead.threshold:g}"
    finding += f", {ahead.falling:,} more drop below it in {ahead.days:g} days"
    return HealthLine(
        "decay",
        "watch" if faded or any(row.uses for row in ahead.rows) else "well",
        finding,
        f"decay forecast --days {ahead.days:g}",
    )


def of_centrality(context: MemoryContext) -> tuple[HealthLine, ...]:
    """Report how old the stored centrality of a large memory is; () for a small memory, whose centrality is always
    computed.
    """
    stored = context.derived.centrality
    with context.storage.snapshot():
        if not stored.large():
            return ()
        of, due = context.storage.centrality.origin(), stored.due()
    if of is None:
        finding = "never worked out: it counts 0 in every score"
        return (HealthLine("centrality", "act", finding, "consolidate"),)
    finding = f"of {plural(of.blocks, 'block')} and {plural(of.edges, 'edge')}, as of change {of.structure:,}"
    return (HealthLine("centrality", "watch" if due else "well", finding, "consolidate" if due else "graph stats"),)


def of_review(waiting: int) -> HealthLine:
    """Report findings that wait for a verdict."""
    if not waiting:
        return HealthLine("review", "well", "nothing to review", "review --scan")
    return HealthLine("review", "watch", f"{waiting:,} finding{'' if waiting == 1 else 's'} to review", "review")


def of_calibration(score: float | None, outcomes: int, fewest: int) -> HealthLine:
    """Report whether forecasts are right, by the Brier score and its target; with fewer than `fewest` verdicts it is
    unknown.
    """
    if score is None:
        return HealthLine("calibration", "unknown", "no verdict yet", "feedback useful")
    if outcomes < fewest:
        finding = f"Brier {score:.3f} from {outcomes:,} verdict{'' if outcomes == 1 else 's'} ({fewest:,} needed)"
        return HealthLine("calibration", "unknown", finding, "feedback useful")
    finding = f"Brier {score:.3f} from {outcomes:,} verdicts, goal {BRIER_GOAL:g}"
    standing: Standing = "well" if score < BRIER_GOAL else "act"
    return HealthLine("calibration", standing, finding, "calibration" if score < BRIER_GOAL else "calibrate --dry-run")


def of_budget(last: AssemblyRecord | None) -> HealthLine:
    """Report how full the last frame was."""
    if last is None:
        return HealthLine("budget", "unknown", "no frame yet", "frame assemble SESSION")
    share = last.tokens / max(1, last.budget)
    finding = f"{last.tokens:,} of {last.budget:,} tok, {plural(len(last.selected), 'block')} in {last.name}"
    return HealthLine("budget", "watch" if share >= _FULL else "well", finding, "frame history")


def verify(context: MemoryContext, progress: Progress | None = None) -> Verification:
    """Hash every block again, check every reference, compare the indexes; return each fault."""
    faults = _list_losses(context.storage) + sound.faults(context.storage, progress)
    faults += rows.faults(context.storage)
    faults += context.derived.faults()
    faults += _frame_faults(context.storage)
    return Verification(
        blocks=sum(context.storage.blocks.by_status().values()),
        edges=context.storage.edges.count(),
        faults=tuple(faults),
        mended=context.storage.cut,
    )


def _list_losses(storage: Storage) -> list[Fault]:
    """Return what had been lost when the store was opened; it was accepted, so the next check passes."""
    return (
        [Fault("store", f"{storage.lost} are gone; what is left was accepted", repairable=True)] if storage.lost else []
    )


def _frame_faults(storage: Storage) -> list[Fault]:
    try:
        shipping.check_definitions(storage)
    except AmgsError as error:
        return [Fault("frames", error.message.rstrip("."))]
    return []


def topology(context: MemoryContext, blocks: int) -> StoreTopology | None:
    """Return the parts of a memory in a database; None for a file."""
    storage = context.storage
    own = storage.namespaces(own=True)
    return StoreTopology(replace(own[0], blocks=blocks, changes=storage.change_counter)) if own else None


class Erasure(MemoryPart):
    """Erasure in an open memory. It cannot be undone; `plan` previews it."""

    def plan(self, ids: Sequence[str]) -> ErasurePlan:
        """Return what erasing blocks would remove; changes nothing."""
        return erasing.plan(self._storage, self._whole(ids), self._size())

    def erase(self, ids: Sequence[str], progress: Progress | None = None) -> ErasureReceipt:
        """Erase blocks so that their texts are nowhere in the store: tables, journal, logs, indexes, freed pages of its
        file. It cannot be undone.

        Rewrites the file and the keyword index, which needs as much additional space meanwhile. Blocks merged or split
        from these stay; the receipt names them. Raises StoreError if the disk is full: then the tables no longer
        contain them, and the file is rewritten when the memory is closed.
        """
        context, storage = self._context, self._storage
        before, sizes = self._size(), context.derived.sizes()
        with storage.transaction():
            planned = self.plan(ids)
            context.searches.write(context.settings.retrieval.searches, most=None)
            entry, rows = erasing.erase_blocks(storage, planned, context.clock.now())
        gone = tuple(block.id for block in planned.blocks)
        struck = 0 if storage.file is None else erasing.remove_ledger_lines(Path(f"{storage.file}.deleted.jsonl"), gone)
        compacted = self.finish()
        now = context.derived.sizes()
        return ErasureReceipt(
            ids=gone,
            at=entry.at,
            operation=entry,
            related=planned.related,
            sources=planned.sources,
            rows=rows | ({"ledger": struck} if struck else {}),
            indexes={name: (sizes[name], now[name]) for name in now},
            compacted=compacted,
            bytes=(before, self._size()),
            verification=verify(context, progress),
        )

    def finish(self) -> bool:
        """Rewrite files that still contain erased content; return False if another thread did not stop reading them."""
        self._context.derived.rewrite()
        return self._storage.erasure.compact()

    @property
    def unfinished(self) -> bool:
        """Return whether files still contain erased content; they are rewritten on closing and opening."""
        return self._storage.erasure.unfinished

    def _whole(self, ids: Sequence[str]) -> list[str]:
        return [self._context.whole_id(prefix) for prefix in ids]

    def _size(self) -> int:
        file = self._storage.file
        return 0 if file is None else file.stat().st_size

    def scan_secrets(self) -> SecretScan:
        """Return the secrets in the store; changes nothing."""
        return masking.scan(self._storage)[0]

    def mask_secrets(self) -> SecretScan:
        """Mask every secret in the store, as a single operation that only `restore_secrets` reverts.

        They are stored in a file beside the store that only its owner can read. Raises StoreError if it cannot be
        written.
        """
        context = self._context
        with context.storage.transaction():
            context.searches.write(context.settings.retrieval.searches, most=None)
        done = masking.apply(context.storage, context.clock.now())
        if done.operation is not None:
            self.finish()
        return done

    def restore_secrets(self, operation: int) -> JournalEntry:
        """Restore the secrets that an operation masked, and delete their file."""
        entry = masking.restore(self._storage, operation)
        self.finish()
        self.forget_secrets(operation)
        return entry

    def forget_secrets(self, operation: int) -> None:
        """Delete the file with the secrets that an operation masked; they cannot be restored then."""
        masking.originals_of(self._storage, operation).unlink(missing_ok=True)
