"""The requests behind the parts of a client that have no file of their own: `client.frame`, `client.graph` and others.

Where `Memory` has a part of that name, the names and arguments are its own.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from amgs.client.ask import Ask, asking, operation, part, sending
from amgs.client.calls import weights_text, why

if TYPE_CHECKING:
    from amgs.api.entities import EntityOrder
    from amgs.api.graph import Communities, GraphPath
    from amgs.api.sources import SourceSummary
    from amgs.calibration.results import Calibrated, CalibrationPlan
    from amgs.frames.results import CachedFrame, History, Replay
    from amgs.lifecycle.decay_forecast import DecayPreview
    from amgs.lifecycle.erase import ErasurePlan, ErasureReceipt
    from amgs.lifecycle.proposals import EnhancementPlan
    from amgs.lifecycle.prune import PruneAssessment, Pruned, PrunePlan
    from amgs.lifecycle.revision import Revision, RevisionPlan
    from amgs.lifecycle.schedule import Due
    from amgs.lifecycle.supersede import ReviewItem, ReviewPlan
    from amgs.simulation.evolve import Evolution
    from amgs.simulation.insert import Insertion
    from amgs.simulation.prune import PruningFutures
    from amgs.simulation.stability import Stability
    from amgs.storage.sources import SourcePiece
    from amgs.types import (
        Edge,
        EntityKnowledge,
        EntitySummary,
        EntityType,
        Explanation,
        FrameDefinition,
        IndexBuild,
        IndexStatus,
        JournalEntry,
        JournalEntryDetail,
        JournalPage,
        Neighbourhood,
        PlanApplied,
        ServedPlan,
        UndoPlan,
        Weights,
    )
    from amgs.types.causes import KeptCauses
    from amgs.types.decay import CategoryCurves
    from amgs.types.gateway import GatewayExchange
    from amgs.types.tasks import Task, TaskKind, WorkerList


Method = Literal["isotonic", "platt"]
_EVERY = 1_000_000
"""More than there are."""


# --- frames ----------------------------------------------------------------------------------------------


def cached(
    name: str, *, query: str = "", budget: int | None = None, weights: Weights | None = None
) -> Ask[CachedFrame]:
    """The frame as it was assembled last, anew where what it stands on has changed since."""
    return operation(
        "frame_cached", name=name, query=query or None, budget=budget, weights=weights_text(weights)
    )


def why_frame(
    name: str,
    query: str,
    block: str,
    *,
    budget: int | None = None,
    weights: Weights | None = None,
    child: str | None = None,
) -> Ask[Explanation]:
    """Why a block is in a frame, or which step kept it out. child: the part of a composite that is asked about."""
    return why(query, block, frame=name, budget=budget, weights=weights, child=child)


def delete_frame(name: str) -> Ask[FrameDefinition]:
    """Delete a frame of one's own."""
    return operation("frame_delete", writes=True, name=name)


def reset_frame(name: str) -> Ask[FrameDefinition]:
    """Put a frame that the program brings back to what it was."""
    return operation("frame_reset", writes=True, name=name)


def history(name: str | None = None, limit: int = 20) -> Ask[History]:
    """What was assembled before, the latest first."""
    return operation("frame_history", name=name, limit=limit)


def replay(assembly_id: str) -> Ask[Replay]:
    """Assemble a frame again as it was, and compare."""
    return operation("frame_replay", assembly=assembly_id)


def why_then(assembly_id: str, block: str) -> Ask[Explanation]:
    """Why a block was in a frame that was assembled before, or was not."""
    return operation("frame_why", assembly=assembly_id, block=block)


# --- entities --------------------------------------------------------------------------------------------


def list_entities(
    limit: int = 50, type: EntityType | None = None, min_mentions: int = 2
) -> Ask[tuple[EntitySummary, ...]]:
    """The entities that are named at least so often, the most often named first."""
    return operation("entity_list", part("entities"), limit=limit, kind=type, min_mentions=min_mentions)


def get_entity(name: str, limit: int = 20, order: EntityOrder = "relevance") -> Ask[EntityKnowledge]:
    """What is known of an entity, by its name or an alias; raises UnknownEntityError, which tells names near to it."""
    return operation("entity_show", name=name, limit=limit, order=order)


# --- the graph -------------------------------------------------------------------------------------------


def neighbours(
    block_id: str,
    hops: int = 1,
    limit: int = 60,
    *,
    relations: Collection[str] = (),
    since: datetime | None = None,
) -> Ask[Neighbourhood]:
    """What lies within `hops` of a block, the nearest and strongest `limit` of it, with the edges among it."""
    return operation(
        "graph_neighbours",
        block=block_id,
        hops=hops,
        limit=limit,
        relation=sorted(relations) or None,
        since=since,
    )


def path(start: str, goal: str) -> Ask[GraphPath]:
    """The path between two blocks whose edges have the greatest product of strengths."""
    return operation("graph_path", start=start, goal=goal)


def communities(limit: int = 12) -> Ask[Communities]:
    """The largest groups of blocks by the strengths of their edges."""
    return operation("graph_communities", limit=limit)


def causes(block_id: str | None = None, limit: int = 200) -> Ask[KeptCauses]:
    """What blocks state of causes, the surest first: of all, or of one."""
    return operation("graph_causes", block=block_id, limit=limit)


def confirm_edge(source: str, target: str, *, kind: str = "related") -> Ask[Edge]:
    """Confirm that an edge is right: its confidence is 1, and its decay begins anew; journalled."""
    return sending("POST", "/v1/graph/edge", part("edge"), start=source, goal=target, kind=kind, confirm=True)


# --- lifecycle -------------------------------------------------------------------------------------------


def plan_enhancement(*, kinds: Sequence[str] = (), limit: int | None = None) -> Ask[EnhancementPlan]:
    """What could be better: of the kinds asked for, at most `limit` of each; changes nothing."""
    return sending(
        "POST",
        "/v1/lifecycle/enhance",
        repeatable=True,
        dry_run=True,
        kind=list(kinds) or None,
        limit=limit,
    )


def enhance(*, kinds: Sequence[str] = (), limit: int | None = None) -> Ask[JournalEntry]:
    """Carry out what `plan_enhancement` proposes, in one journal entry."""
    return sending("POST", "/v1/lifecycle/enhance", part("operation"), kind=list(kinds) or None, limit=limit)


def plan_pruning(
    *,
    hard: bool = False,
    limit: int | None = None,
    threshold: float | None = None,
    lowest: float | None = None,
) -> Ask[PrunePlan]:
    """What pruning would take, the most faded first; changes nothing."""
    return sending(
        "POST",
        "/v1/lifecycle/prune",
        repeatable=True,
        dry_run=True,
        hard=hard or None,
        limit=limit,
        threshold=threshold,
        lowest=lowest,
    )


def prune(
    *, limit: int | None = None, threshold: float | None = None, lowest: float | None = None
) -> Ask[Pruned]:
    """Mark what is faded, peripheral, unused and of low confidence as pruned; `undo` brings it back."""
    return sending("POST", "/v1/lifecycle/prune", limit=limit, threshold=threshold, lowest=lowest)


def explain_pruning(
    block_id: str, *, threshold: float | None = None, lowest: float | None = None
) -> Ask[PruneAssessment]:
    """What keeps one block, or why it would be pruned; changes nothing."""
    return sending(
        "POST",
        "/v1/lifecycle/prune",
        repeatable=True,
        explain=block_id,
        threshold=threshold,
        lowest=lowest,
    )


def plan_calibration(method: Method = "isotonic") -> Ask[CalibrationPlan]:
    """What recalibrating the forecasts from their outcomes would change; changes nothing."""
    return sending("POST", "/v1/lifecycle/calibrate", repeatable=True, dry_run=True, method=method)


def calibrate(method: Method = "isotonic") -> Ask[Calibrated]:
    """Recalibrate the forecasts from their outcomes; `undo` takes it back."""
    return sending("POST", "/v1/lifecycle/calibrate", method=method)


def plan_review() -> Ask[ReviewPlan]:
    """Which blocks may be superseded, contradicted or merged; changes nothing."""
    return operation("review_scan", dry_run=True)


def reviews(*, every: bool = False, limit: int | None = None) -> Ask[tuple[ReviewItem, ...]]:
    """Findings that wait for a verdict, the surest first; 50 unless limited otherwise. every: decided ones, too."""
    return operation("review_list", part("items"), every=every, limit=limit)


def accept(review_id: int) -> Ask[JournalEntry]:
    """Apply a finding: mark what is superseded, link what contradicts, merge copies."""
    return operation("review_decide", writes=True, review=review_id, verdict="accept")


def reject(review_id: int) -> Ask[JournalEntry]:
    """Dismiss a finding; it is not proposed again."""
    return operation("review_decide", writes=True, review=review_id, verdict="reject")


def due() -> Ask[Due]:
    """Whether the inbox should be consolidated now, and why."""
    return operation("inbox_due")


def operation_detail(operation_id: int, limit: int = 200) -> Ask[JournalEntryDetail]:
    """What a change in the journal did to each of its blocks, and what must be undone before it."""
    return operation("operations", operation=operation_id, limit=limit)


def plan_undo(operation_id: int | None = None) -> Ask[UndoPlan]:
    """What undoing an operation (the latest) would take back; changes nothing."""
    return operation("undo", operation=operation_id, dry_run=True)


def category_curves(*, days: float = 30) -> Ask[CategoryCurves]:
    """How the relevance of each category falls within `days`."""
    return operation("decay_categories", days=days)


def preview_decay(block_id: str, decay_lambda: float, *, days: float = 30.0) -> Ask[DecayPreview]:
    """What another decay constant would make of a block; changes nothing."""
    return operation("decay_curve", block=block_id, decay_lambda=decay_lambda, days=days)


# --- sources and simulation --------------------------------------------------------------------------------


def list_sources(below: str = "") -> Ask[tuple[SourceSummary, ...]]:
    """The sources that the memory holds, by name; those whose name begins so."""
    return operation("source_list", part("sources"), below=below, limit=_EVERY)


def source_history(name: str) -> Ask[tuple[SourcePiece, ...]]:
    """The pieces of a source with the time in which it held them, the earliest first."""
    return operation("source_show", part("pieces"), source=name, limit=_EVERY)


def plan_text(name: str, text: str) -> Ask[RevisionPlan]:
    """What a source's new text would change; changes nothing. `plans.revision` has the service keep the plan."""
    return operation("source_update", source=name, text=text, dry_run=True)


def update_source(name: str, text: str) -> Ask[Revision]:
    """Take in a source's new text, and end what it no longer says; `undo` takes it back."""
    return operation("source_update", writes=True, source=name, text=text)


def plan_delete(names: Sequence[str]) -> Ask[RevisionPlan]:
    """What deleting sources would archive; changes nothing."""
    return operation("source_delete", source=list(names), dry_run=True)


def delete_sources(names: Sequence[str]) -> Ask[Revision]:
    """Take sources out: what no other source holds is archived; `undo` brings it back."""
    return operation("source_delete", writes=True, source=list(names))


def simulate_evolution(
    *, days: float = 90.0, draws: int = 64, steps: int = 6, rate: float | None = None
) -> Ask[Evolution]:
    """How the memory decays and is used over time. Needs the right to operate, as each simulation does."""
    return operation("montecarlo", simulation="evolve", days=days, draws=draws, steps=steps, rate=rate)


def simulate_pruning(
    *,
    thresholds: Sequence[float] = (),
    days: float = 180.0,
    cycle: float = 30.0,
    draws: int = 32,
    rate: float | None = None,
    lowest: float | None = None,
) -> Ask[PruningFutures]:
    """Ways to prune beside each other: each threshold of relevance with each number of the other signs."""
    return operation(
        "montecarlo",
        simulation="prune",
        threshold=list(thresholds) or None,
        days=days,
        cycle=cycle,
        draws=draws,
        rate=rate,
        lowest=lowest,
    )


def simulate_insertion(text: str, *, days: float = 30.0, draws: int = 64) -> Ask[Insertion]:
    """Where a new text would attach to the graph; nothing is taken in."""
    return operation("montecarlo", simulation="insert", text=text, days=days, draws=draws)


def simulate_stability(
    *,
    noise: float = 0.3,
    loss: float = 0.1,
    days: float = 30.0,
    paces: Sequence[float] = (0.5, 1.0, 2.0, 4.0),
    draws: int = 32,
) -> Ask[Stability]:
    """How stable the graph is when edges are lost at random."""
    return operation(
        "montecarlo",
        simulation="stability",
        noise=noise,
        loss=loss,
        days=days,
        pace=list(paces),
        draws=draws,
    )


# --- the gateway -----------------------------------------------------------------------------------------


def gateway_exchanges(limit: int = 50) -> Ask[tuple[GatewayExchange, ...]]:
    """The latest requests, the newest first, without what was sent."""
    return operation("conversation_exchanges", part("exchanges"), limit=limit)


def gateway_exchange(number: int) -> Ask[GatewayExchange]:
    """A request with what its model read, put together from the conversation and held against the digest of what was
    sent.
    """
    return operation("conversation_exchange", number=number)


# --- erasure -----------------------------------------------------------------------------------------------


def plan_erasure(ids: Sequence[str]) -> Ask[ErasurePlan]:
    """What erasing blocks would take; changes nothing."""
    return operation("block_delete", blocks=list(ids), dry_run=True)


def erase(ids: Sequence[str]) -> Ask[ErasureReceipt]:
    """Erase blocks so that their texts are nowhere in the store; it cannot be undone. Needs the right to operate."""
    return operation("block_delete", writes=True, blocks=list(ids), hard=True, yes=True)


# --- the search index -------------------------------------------------------------------------------------


def build_index(*, anew: bool = False, compact: bool = False) -> Ask[IndexBuild]:
    """Bring the search index to the memory's present state. Needs the right to write."""
    return operation("index_build", writes=True, anew=anew, compact=compact)


def index_status() -> Ask[IndexStatus]:
    """At which state of the memory the search index was built, and what has changed since."""
    return operation("index_status")


# --- plans and the journal ---------------------------------------------------------------------------------


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


# --- tasks -----------------------------------------------------------------------------------------------


def list_tasks(limit: int = 50) -> Ask[WorkerList]:
    """The workers that are not gone, and so many tasks: the open and the failed ones first."""
    return operation("workers_list", limit=limit)


def enqueue_tasks(kinds: Sequence[TaskKind] = ()) -> Ask[tuple[Task, ...]]:
    """Ask for what is behind, of all kinds or of these; gives the new tasks."""
    return operation("workers_enqueue", part("tasks"), writes=True, kinds=list(kinds))


def retry_tasks() -> Ask[tuple[Task, ...]]:
    """Have the tasks that failed wait again; gives them."""
    return operation("workers_enqueue", part("tasks"), writes=True, failed=True)
