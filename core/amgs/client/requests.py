"""Requests of the clients: a function for each method, from its arguments to a request with a typed answer."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Unpack

from amgs import wire
from amgs.client.ask import Ask, asking, drop_unset, operation, part, plain, sending, whole
from amgs.errors import UsageError

if TYPE_CHECKING:
    from amgs.api.graph import GraphPath
    from amgs.conversation.messages import GivenMessage
    from amgs.types import (
        Block,
        BlockFilter,
        ConsolidationSummary,
        Edge,
        Explanation,
        Frame,
        IngestReceipt,
        JournalEntry,
        JournalPage,
        Neighbourhood,
        Outcome,
        PlanApplied,
        SearchResult,
        ServedPlan,
        StoreStatus,
        Weights,
    )
    from amgs.types.conversation import ConversationAdded, Message, OptimisedContext
    from amgs.types.diagnosis import Diagnosis, DiagnosisArguments, FixApplied


def call(name: str, /, *, exact: bool = False, writes: bool = True, **arguments: Any) -> Ask[Any]:
    """Call any operation of the service by name, such as `frame compare`, with its parameters.

    The answer is plain JSON, as from `--format json`; with exact, the engine's values. writes: False for a request that
    changes nothing and needs no idempotency key.
    """
    path = f"/v1/operations/{'_'.join(name.split())}"
    read = whole if exact else plain
    return Ask("POST", path, drop_unset(arguments), read, repeatable=not writes, exact=exact)


def ingest(
    content: str | Sequence[str | Mapping[str, Any]],
    *,
    occurred_at: datetime | None = None,
    speaker: str = "",
    source: str = "",
    tags: Sequence[str] = (),
    meta: Mapping[str, Any] | None = None,
    replaces: Sequence[str] = (),
) -> Ask[IngestReceipt]:
    """Ingest texts, all or none; they wait in the inbox for `consolidate`.

    content: a text, or a list of texts, each a str or a mapping with `content` and any of the following. occurred_at:
    when it happened or was written; default: now. replaces: what it corrects, blocks by id or wording. A known text
    makes no second block and at most counts as said later, so a request can be repeated. Returns once it is on disk.
    Raises InputError for a text that cannot be ingested.
    """
    return sending(
        "POST",
        "/v1/memory/ingest",
        repeatable=True,
        content=content if isinstance(content, str) else list(content),
        occurred_at=occurred_at,
        speaker=speaker or None,
        source=source or None,
        tags=tuple(tags) or None,
        meta=meta or None,
        replaces=tuple(replaces) or None,
    )


def search(
    query: str,
    *,
    top_k: int | None = None,
    filter: BlockFilter | None = None,
    layers: Collection[str] = (),
    weights: Weights | None = None,
    as_of: datetime | None = None,
) -> Ask[SearchResult]:
    """Search the memory, best hit first.

    Raises UsageError for a filter that the service does not support: it filters by status, category, date, metadata and
    the self.
    """
    return operation(
        "search",
        query=query,
        top_k=top_k,
        layer=list(layers) or None,
        weights=weights,
        as_of=as_of,
        **_write_conditions(filter),
    )


def why(query: str, block_id: str, *, top_k: int | None = None, weights: Weights | None = None) -> Ask[Explanation]:
    """Return why a search finds a block, or why not."""
    return operation("why", query=query, block=block_id, top_k=top_k, weights=weights)


def assemble_frame(
    name: str,
    *,
    query: str = "",
    budget: int | None = None,
    weights: Weights | None = None,
    reinforce: bool = True,
    as_of: datetime | None = None,
) -> Ask[Frame]:
    """Assemble a frame. reinforce: False leaves no trace in the memory, nor does as_of."""
    look = None if reinforce and as_of is None else True
    return operation(
        "frame_assemble",
        writes=not look,
        name=name,
        query=query or None,
        budget=budget,
        weights=weights,
        as_of=as_of,
        look=look,
    )


def read_context(query: str, *, frame: str = "SESSION", budget: int | None = None) -> Ask[Frame]:
    """Assemble the frame for a question; its `text` is for the model."""
    return assemble_frame(frame, query=query, budget=budget)


def show_block(block_id: str) -> Ask[Block]:
    """Return a block by id or prefix. Raises UnknownBlockError."""
    return operation("block_show", part("block"), block=block_id)


def find_blocks(text: str = "", *, limit: int | None = None) -> Ask[tuple[Block, ...]]:
    """Return blocks whose title, first words or id resemble a text, best first; without a text, the latest blocks."""
    return operation("block_find", part("blocks"), text=text or None, limit=limit)


def add_edge(
    source: str, target: str, *, kind: str = "related", weight: float = 0.8, confidence: float = 1.0
) -> Ask[Edge]:
    """Add an edge between two blocks."""
    return operation(
        "edge_add",
        part("edge"),
        writes=True,
        start=source,
        goal=target,
        kind=kind,
        weight=weight,
        confidence=confidence,
    )


def reinforce_blocks(ids: Sequence[str]) -> Ask[tuple[Block, ...]]:
    """Restart the decay clock of blocks, with a logged event each; return the blocks after that."""
    return operation("block_reinforce", part("blocks"), writes=True, blocks=list(ids))


def give_feedback(
    block_id: str, *, useful: bool, assembly_id: str | None = None, prediction_id: str | None = None
) -> Ask[Outcome]:
    """Record whether a block was useful: its frame's forecast is decided, and a useful block is reinforced."""
    return operation(
        "feedback",
        writes=True,
        verdict="useful" if useful else "useless",
        block=block_id,
        assembly=assembly_id,
        forecast=prediction_id,
    )


def consolidate(*, limit: int | None = None) -> Ask[ConsolidationSummary]:
    """Consolidate the inbox, or its first `limit` blocks, in as many journal entries as needed."""
    return operation("consolidate", _read_summary, writes=True, limit=limit)


def read_status() -> Ask[StoreStatus]:
    """Return the status of the memory. Its path is only shown to those who may operate it."""
    return operation("status", part("store"))


def list_operations(limit: int = 20) -> Ask[tuple[JournalEntry, ...]]:
    """Return the latest operations."""
    return operation("operations", part("operations"), limit=limit)


def undo(operation_id: int) -> Ask[JournalEntry]:
    """Undo an operation. Raises UsageError if that is not possible."""
    return operation("undo", writes=True, operation=operation_id)


def find_neighbours(block_id: str, hops: int = 1, limit: int = 60) -> Ask[Neighbourhood]:
    """Return the blocks around a block, by live edges."""
    return operation("graph_neighbours", block=block_id, hops=hops, limit=limit)


def find_path(start: str, goal: str) -> Ask[GraphPath]:
    """Return the strongest path between two blocks."""
    return operation("graph_path", start=start, goal=goal)


def add_messages(conversation: str, messages: Sequence[GivenMessage]) -> Ask[ConversationAdded]:
    """Add messages to a conversation, which is created if necessary."""
    from amgs.types.conversation import Message

    objects = [message.as_object() if isinstance(message, Message) else dict(message) for message in messages]
    written = json.dumps(objects, ensure_ascii=False, default=str)
    return operation("conversation_add", writes=True, conversation=conversation, messages=written)


def show_messages(conversation: str, *, limit: int = 1_000_000) -> Ask[tuple[Message, ...]]:
    """Return the messages of a conversation."""
    return operation("conversation_show", part("messages"), conversation=conversation, limit=limit)


def optimise_context(
    conversation: str, query: str = "", *, budget: int | None = None, strategy: str | None = None
) -> Ask[OptimisedContext]:
    """Select the part of a conversation that a model should read for a question, within a budget in tokens."""
    return operation(
        "conversation_optimise", conversation=conversation, query=query or None, budget=budget, strategy=strategy
    )


def diagnose(answer: str, missed: str, **asked_of: Unpack[DiagnosisArguments]) -> Ask[Diagnosis]:
    """Find out why an answer missed a fact, and what would include it."""
    return operation("diagnose", answer=answer, missed=missed, **_drop_empty(asked_of))


def apply_fix(answer: str, missed: str, **asked_of: Unpack[DiagnosisArguments]) -> Ask[FixApplied]:
    """Apply the fix that `diagnose` proposes; `undo` reverts it."""
    return operation("diagnose", writes=True, answer=answer, missed=missed, apply=True, **_drop_empty(asked_of))


def plan_consolidation(*, limit: int | None = None) -> Ask[ServedPlan]:
    """Plan a consolidation of the inbox; the service stores the plan for an hour; changes nothing."""
    return sending("POST", "/v1/plans/consolidate", repeatable=True, limit=limit)


def plan_enhancement(*, kinds: Sequence[str] = (), limit: int | None = None) -> Ask[ServedPlan]:
    """Plan an enhancement; the service stores the plan for an hour; changes nothing."""
    return sending("POST", "/v1/plans/enhance", repeatable=True, kind=list(kinds) or None, limit=limit)


def plan_pruning(*, limit: int | None = None) -> Ask[ServedPlan]:
    """Plan a pruning; the service stores the plan for an hour; changes nothing."""
    return sending("POST", "/v1/plans/prune", repeatable=True, limit=limit)


def plan_revision(source: str, text: str) -> Ask[ServedPlan]:
    """Plan what a source's new text would change; the service stores the plan for an hour; changes nothing."""
    return sending("POST", "/v1/plans/revision", repeatable=True, source=source, text=text)


def apply_plan(plan: ServedPlan, *, even_if_changed: bool = False) -> Ask[PlanApplied]:
    """Apply a plan, in a single transaction that `undo` reverts.

    even_if_changed: apply it if it still fits, even if the memory has changed; otherwise the service answers with a
    StaleError, whose `changed` are the journal entries since.
    """
    wanted = "*" if even_if_changed else f'"{plan.change_counter}"'
    return replace(sending("POST", f"/v1/plans/{plan.id}/apply"), headers={"If-Match": wanted})


def read_journal(limit: int = 50, offset: int = 0) -> Ask[JournalPage]:
    """Return a page of the journal, newest first."""
    return asking("/v1/journal", limit=limit, offset=offset)


def _write_conditions(filter: BlockFilter | None) -> dict[str, Any]:
    """Return a filter as the service's conditions; raises UsageError for others."""
    if filter is None:
        return {}
    from amgs.types import BlockFilter

    names = ("statuses", "categories", "since", "until", "self_only", "meta")
    if BlockFilter(**{name: getattr(filter, name) for name in names}) != filter:
        raise UsageError(
            "The service filters by status, category, date, metadata and the self.",
            way_out="Leave the other conditions out, or give `as_of` to the search itself.",
        )
    return {
        "status": filter.statuses,
        "category": filter.categories,
        "since": filter.since,
        "until": filter.until,
        "self_only": filter.self_only or None,
        "meta": filter.meta or None,
    }


def _drop_empty(arguments: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in arguments.items() if value != ""}


def _read_summary(answer: Any) -> ConsolidationSummary:
    from amgs.types import ConsolidationSummary

    if "operations" not in answer["fields"]:
        return ConsolidationSummary(0, 0, {}, ())  # the inbox was empty
    entries = wire.decode(answer["fields"]["operations"])
    operations = tuple(entry for entry in entries if entry.blocks)
    categories = wire.decode(answer["fields"]["categories"])
    edges = sum(entry.edges for entry in operations)
    return ConsolidationSummary(sum(categories.values()), edges, categories, operations)
