"""The requests behind the names that `Memory` has too: arguments in, `Ask` out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from amgs import wire
from amgs.client.ask import Ask, asking, operation, part, sending
from amgs.errors import UsageError

if TYPE_CHECKING:
    from amgs.api.diversity import Diversity
    from amgs.types import (
        Block,
        BlockFilter,
        Centrality,
        Consistency,
        ConsolidationPlan,
        ConsolidationSummary,
        DecayCurve,
        Edge,
        Explanation,
        Forecast,
        Frame,
        FrameDefinition,
        GraphStats,
        Health,
        IngestReceipt,
        JournalEntry,
        Neighbourhood,
        Outcome,
        PastSearch,
        Reliability,
        SearchResult,
        Status,
        StoreStatus,
        Verification,
        Weights,
    )

ForecastGroup = Literal["frame", "category", "relation"]


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


# --- questions -------------------------------------------------------------------------------------------


def search(
    query: str,
    *,
    top_k: int = 10,
    layers: Sequence[str] | None = None,
    filter: BlockFilter | None = None,
    weights: Weights | None = None,
    as_of: datetime | None = None,
    consistency: Consistency = "strong",
) -> Ask[SearchResult]:
    """The blocks that answer a query best, `.hits` in falling score; see `Memory.search`. Leaves no trace.

    Raises UsageError for a filter with a condition that the service does not take.
    """
    return sending(
        "POST",
        "/v1/memory/search",
        repeatable=True,
        query=query,
        top_k=top_k,
        layer=layers,
        weights=weights_text(weights),
        as_of=as_of,
        consistency=None if consistency == "strong" else consistency,
        **_conditions(filter),
    )


def why(
    query: str,
    block: str,
    *,
    frame: str | None = None,
    top_k: int = 10,
    filter: BlockFilter | None = None,
    weights: Weights | None = None,
    budget: int | None = None,
    child: str | None = None,
) -> Ask[Explanation]:
    """Why a block is among the `top_k` hits or in a frame, or at which layer it fell out; see `Memory.why`."""
    if filter is not None:
        raise UsageError("The service explains a search without a filter.", way_out="Leave the filter out.")
    return operation(
        "why",
        query=query,
        block=block,
        frame=frame,
        top_k=top_k,
        weights=weights_text(weights),
        budget=budget,
        child=child,
    )


def searches(limit: int = 20) -> Ask[tuple[PastSearch, ...]]:
    """The latest searches that were kept, the newest first."""
    return operation("searches", part("searches"), limit=limit)


def why_then(number: int, block: str) -> Ask[Explanation]:
    """Why a block was a hit of a search that was kept or not: its scores, rank and finders of then."""
    return operation("searches_why", number=number, block=block)


def assemble(
    name: str,
    *,
    query: str = "",
    budget: int | None = None,
    weights: Weights | None = None,
    reinforce: bool = True,
    as_of: datetime | None = None,
) -> Ask[Frame]:
    """Assemble a frame; its scores are logged as forecasts that feedback settles.

    reinforce: False for a look that leaves no trace. as_of: of what held at that instant; a look, too.
    Raises UnknownFrameError, BudgetError or WeightsError.
    """
    return sending(
        "POST",
        "/v1/frame/assemble",
        repeatable=not reinforce or as_of is not None,
        name=name,
        query=query,
        budget=budget,
        weights=weights_text(weights),
        look=None if reinforce else True,
        as_of=as_of,
    )


def context(
    query: str,
    *,
    frame: str = "SESSION",
    budget: int | None = None,
    weights: Weights | None = None,
    reinforce: bool = True,
) -> Ask[Frame]:
    """What a model should read for a query: `.text` to put into a prompt, `.selected` with the blocks in it."""
    return assemble(frame, query=query, budget=budget, weights=weights, reinforce=reinforce)


def frame_definitions() -> Ask[tuple[FrameDefinition, ...]]:
    """The registered frames, children before their parents."""
    return asking("/v1/frame/definitions", part("definitions"))


# --- blocks ----------------------------------------------------------------------------------------------


def block(id_or_prefix: str) -> Ask[Block]:
    """The block with an id or with the only id that begins so; raises UnknownBlockError or AmbiguousIdError."""
    return operation("block_show", part("block"), block=id_or_prefix)


def find(text: str, limit: int = 20) -> Ask[tuple[Block, ...]]:
    """Blocks whose title, first words or id fit what was typed, the best first."""
    return operation("block_find", part("blocks"), text=text, limit=limit)


def set_metadata(
    id: str,
    *,
    category: str | None = None,
    confidence: float | None = None,
    decay_lambda: float | None = None,
    is_self_component: bool | None = None,
    status: Status | None = None,
    meta: Mapping[str, str] | None = None,
) -> Ask[Block]:
    """Change a block's metadata; journalled, so that it can be undone. meta: an empty value takes a key away."""
    return operation(
        "block_set",
        part("block"),
        writes=True,
        block=id,
        category=category,
        confidence=confidence,
        decay_lambda=decay_lambda,
        own=None if is_self_component is None else ("yes" if is_self_component else "no"),
        status=status,
        meta=[f"{key}={value}" for key, value in meta.items()] if meta else None,
    )


def tag(id: str, add: Sequence[str] = (), remove: Sequence[str] = ()) -> Ask[Block]:
    """Add tags to a block and take others away; journalled."""
    return operation(
        "block_tag", part("block"), writes=True, block=id, add=list(add) or None, remove=list(remove) or None
    )


def note(id: str, text: str) -> Ask[Block]:
    """Write a note on a block, in place of the one before; an empty one removes it. Journalled."""
    return operation("block_note", part("block"), writes=True, block=id, text=text)


def add_edge(
    source: str, target: str, *, kind: str = "related", weight: float = 0.8, confidence: float = 1.0
) -> Ask[Edge]:
    """Add an edge between two consolidated blocks, or change the one of that kind; journalled."""
    return sending(
        "POST",
        "/v1/graph/edge",
        part("edge"),
        start=source,
        goal=target,
        kind=kind,
        weight=weight,
        confidence=confidence,
    )


def remove_edge(source: str, target: str, *, kind: str | None = None) -> Ask[JournalEntry]:
    """Remove the edges from one block to another, of one kind or of all; journalled."""
    return sending("DELETE", "/v1/graph/edge", start=source, goal=target, kind=kind)


def reinforce(ids: Sequence[str]) -> Ask[tuple[Block, ...]]:
    """Restart the decay clock of blocks, one logged event each; gives the blocks as they are then."""
    return sending("POST", "/v1/memory/reinforce", part("blocks"), blocks=list(ids))


# --- lifecycle -------------------------------------------------------------------------------------------


def consolidate(*, limit: int | None = None) -> Ask[ConsolidationSummary]:
    """Work what was added into the memory, which may take long for many texts; see `Memory.consolidate`."""
    return sending("POST", "/v1/lifecycle/consolidate", _summary, limit=limit)


def _summary(given: Any, packages: Collection[str]) -> Any:
    from amgs.types import ConsolidationSummary

    if "operations" not in given["fields"]:
        return ConsolidationSummary(0, 0, {}, ())  # nothing waited
    entries = wire.decode(given["fields"]["operations"], packages)
    operations = tuple(each for each in entries if each.blocks)
    categories = wire.decode(given["fields"]["categories"], packages)
    return ConsolidationSummary(
        sum(categories.values()), sum(each.edges for each in operations), categories, operations
    )


def plan_consolidation(*, limit: int | None = None) -> Ask[ConsolidationPlan]:
    """What consolidating the inbox (its `limit` oldest arrivals) would do; changes nothing."""
    return sending("POST", "/v1/lifecycle/consolidate", repeatable=True, dry_run=True, limit=limit)


def operations(limit: int = 20) -> Ask[tuple[JournalEntry, ...]]:
    """The latest operations, the newest first."""
    return operation("operations", part("operations"), limit=limit)


def undo(operation_id: int) -> Ask[JournalEntry]:
    """Take an operation back; raises UsageError when a later one stands on it."""
    return operation("undo", writes=True, operation=operation_id)


def redo(operation_id: int | None = None) -> Ask[JournalEntry]:
    """Put an undone operation (the one undone last) back exactly as the undo found it."""
    return operation("redo", part("operation"), writes=True, operation=operation_id)


def decay_curve(block_id: str, *, days: float = 30) -> Ask[DecayCurve]:
    """A block's relevance from its creation to `days` ahead."""
    return operation("decay_curve", block=block_id, days=days)


def forecast(*, days: float = 30, threshold: float | None = None) -> Ask[Forecast]:
    """What will fall under the threshold within `days`, soonest first; the first 500."""
    return operation("decay_forecast", days=days, threshold=threshold)


def feedback(
    block_id: str,
    *,
    useful: bool,
    assembly_id: str | None = None,
    prediction_id: str | None = None,
) -> Ask[Outcome]:
    """Say whether a block that `context` selected was useful; its score was a forecast of that.

    assembly_id: the verdict is on the forecast of one frame (`frame.id`). prediction_id: on this one.
    """
    return operation(
        "feedback",
        writes=True,
        verdict="useful" if useful else "useless",
        block=block_id,
        assembly=assembly_id,
        forecast=prediction_id,
    )


def outcomes(limit: int = 100) -> Ask[tuple[Outcome, ...]]:
    """The latest forecasts, with their outcome where there is one."""
    return operation("calibration", _outcomes, view="forecasts", limit=limit)


def _outcomes(given: Any, packages: Collection[str]) -> Any:
    cases = given["fields"]["cases"]["$tuple"]
    return tuple(wire.decode(case["fields"]["outcome"], packages) for case in cases)


def reliability(
    bins: int = 10, *, by: ForecastGroup | None = None, value: str | None = None
) -> Ask[Reliability]:
    """The reliability table and the Brier score with its parts, of all forecasts or of one group."""
    return operation("calibration", bins=bins, by=by, value=value)


# --- the graph -------------------------------------------------------------------------------------------


def neighbourhood(block_id: str, hops: int = 1, limit: int = 60) -> Ask[Neighbourhood]:
    """What lies within `hops` of a block, the nearest and strongest `limit` of it."""
    return operation("graph_neighbours", block=block_id, hops=hops, limit=limit)


def centrality(block_id: str) -> Ask[Centrality]:
    """A block's degree, eigenvector, PageRank and betweenness, each scaled to [0, 1]."""
    return operation("graph_centrality", block=block_id)


def graph_stats() -> Ask[GraphStats]:
    """Counts and shape of the whole graph."""
    return asking("/v1/graph/stats")


# --- the whole memory ------------------------------------------------------------------------------------


def status() -> Ask[StoreStatus]:
    """One look at the whole memory. Its path is told only to who may operate it."""
    return asking("/v1/lifecycle/status", part("store"))


def counts() -> Ask[Mapping[str, int]]:
    """How many blocks are raw, consolidated, archived and pruned."""
    return asking("/v1/lifecycle/status", _counts)


def _counts(given: Any, packages: Collection[str]) -> Any:
    return wire.decode(given["fields"]["store"]["fields"]["blocks"], packages)


def health() -> Ask[Health]:
    """How each side of the memory stands, and what looks closer or mends it."""
    return operation("health")


def diversity() -> Ask[Diversity]:
    """How evenly the memory is spread: entropy of its categories and clusters."""
    return operation("metrics", what="diversity")


def verify() -> Ask[Verification]:
    """Re-hash every block, follow every reference, compare the indexes; names each fault."""
    return operation("verify")


def weights_text(weights: Weights | None) -> str | None:
    """Weights as the service takes them."""
    if weights is None:
        return None
    from dataclasses import astuple

    return ",".join(repr(each) for each in astuple(weights))


def _conditions(filter: BlockFilter | None) -> dict[str, Any]:
    if filter is None:
        return {}
    from amgs.types import BlockFilter

    served = BlockFilter(
        statuses=filter.statuses,
        categories=filter.categories,
        since=filter.since,
        until=filter.until,
        self_only=filter.self_only,
        meta=filter.meta,
    )
    if served != filter:
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
        "meta": [f"{key}={value}" for key, value in filter.meta.items()] or None,
    }
