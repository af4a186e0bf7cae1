"""Operations `search` and `why`."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

from amgs.errors import UsageError
from amgs_app import results
from amgs_app.calls.marks import Arg, Option, Reference, WeightsText, read_categories, read_pair, read_weights
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.types import Explanation, Progress, SearchResult
    from amgs_app.engine import Engine
    from amgs_app.session import Operator


class Layer(StrEnum):
    """Layers of retrieval."""

    KEYWORD = "keyword"
    FUZZY = "fuzzy"
    VECTOR = "vector"
    GRAPH = "graph"


class BlockState(StrEnum):
    """Statuses of a block."""

    RAW = "raw"
    CONSOLIDATED = "consolidated"
    ARCHIVED = "archived"
    PRUNED = "pruned"


@operation(
    "search",
    summary="Search the memory: keyword, fuzzy, vector and graph.",
    synonyms=("ask", "recall", "query"),
    example='search "wifi fails in bad weather"',
    pane="frame",
    keeps="search",
    lists=lambda result: [hit.block.id for hit in result.hits],
)
def search(
    engine: Engine,
    query: Annotated[str, Arg(metavar="QUERY", help="Words, names, a question.")],
    *,
    layer: Annotated[
        list[Layer] | None, Option("--layer", metavar="LAYER", help="Only this layer; may be repeated.")
    ] = None,
    top_k: Annotated[int, Option("--limit", metavar="N", min=1, help="How many hits.")] = 10,
    category: Annotated[
        list[str] | None, Option("--category", metavar="NAME", help="Only blocks of this category.")
    ] = None,
    status: Annotated[
        list[BlockState] | None,
        Option("--status", metavar="STATUS", help="Only raw, consolidated, archived or pruned; may be repeated."),
    ] = None,
    meta: Annotated[
        list[str] | None, Option("--meta", metavar="KEY=VALUE", help="Only blocks with this metadata; may be repeated.")
    ] = None,
    since: Annotated[datetime | None, Option("--since", metavar="DATE", help="Created at or after.")] = None,
    until: Annotated[datetime | None, Option("--until", metavar="DATE", help="Created before.")] = None,
    self_only: Annotated[bool, Option("--self", help="Only blocks that belong to the self.")] = False,
    as_of: Annotated[
        datetime | None,
        Option("--as-of", metavar="DATE", help="Only what was valid then, including what was superseded since."),
    ] = None,
    weights: WeightsText = None,
    progress: Progress | None = None,
) -> SearchResult:
    """Search: pre-filter, keyword, fuzzy, vector, one hop of the graph, composite score.

    Hits come best first, each with its source, its date, the passage that answers, the parts of its score and the
    layers that found it. Raw blocks are found by their words alone and marked; what was superseded is marked and ranks
    behind. Searching does not reinforce.
    """
    from amgs.clock import as_utc
    from amgs.types import BlockFilter

    if not query.strip():
        raise UsageError("A search needs words.", way_out="Ask something; `block find` lists the latest blocks.")
    chosen = BlockFilter(
        statuses=tuple(state.value for state in status) if status else ("consolidated", "raw"),
        meta=dict(read_pair(pair) for pair in meta or ()),
        categories=read_categories(engine, category),
        since=None if since is None else as_utc(since),
        until=None if until is None else as_utc(until),
        self_only=self_only,
    )
    if not layer or {Layer.VECTOR, Layer.GRAPH} & {*layer}:
        engine.memory.load(progress)
    return engine.memory.search(
        query,
        top_k=top_k,
        layers=[choice.value for choice in layer] if layer else None,
        filter=chosen,
        weights=read_weights(weights),
        as_of=as_of,
        keep=True,
    )


@operation(
    "why",
    audience="everyone",
    summary="Explain why a block is or is not a hit, and what would change that.",
    synonyms=("explain", "reason", "searches", "past searches"),
    example='why "what is wrong with the wifi?" @4',
)
def why(
    operator: Operator,
    query: Annotated[str, Arg(metavar="QUERY", help="The question; default: list past searches.")] = "",
    block: Reference = None,
    *,
    past: Annotated[
        int | None,
        Option("--search", metavar="N", min=1, help="What became of a block, here the first word, in past search N."),
    ] = None,
    frame: Annotated[
        str | None, Option("--frame", metavar="NAME", help="Explain it for this frame instead of a search.")
    ] = None,
    top_k: Annotated[int, Option("--limit", metavar="N", min=1, help="How many hits.")] = 10,
    budget: Annotated[
        int | None, Option("--budget", metavar="TOKENS", help="Token budget of the frame; default: its own.")
    ] = None,
    weights: WeightsText = None,
    child: Annotated[
        str | None, Option("--child", metavar="NAME", help="Explain it for this child of a composite frame.")
    ] = None,
    last: Annotated[
        bool, Option("--last", help="Explain the frame assembled last, as it was, if it is this frame for this query.")
    ] = False,
) -> Explanation | results.SearchList:
    """Follow a block through the layers: where it dropped out, by how much, and which rank it has.

    Without QUERY, list the latest searches with their numbers; `why ID --search N` says what became of a block in that
    search, from what was stored of it, whatever has changed since. A setting says how many are stored.

    A frame is assembled again for this, and may have changed since through reinforcement; --last explains the frame
    assembled last. Where the score decided, shows the smallest change of weights that would admit the block. Leaves
    no trace.
    """
    if past is not None:
        return operator.engine.memory.why_then(past, operator.engine.block(block or query or None).id)
    if not query:
        return results.SearchList(operator.engine.memory.searches(top_k))
    chosen = operator.engine.block(block).id
    if frame is not None and last:
        last_frame = operator.last_frame or operator.engine.memory.frames.last()
        if last_frame is not None and (last_frame.name, last_frame.query) == (frame.strip().upper(), query):
            return operator.engine.memory.frames.why(
                frame,
                query,
                chosen,
                budget=last_frame.budget,
                weights=read_weights(weights),
                child=child,
                frame=last_frame,
            )
    return operator.engine.memory.why(
        query, chosen, frame=frame, top_k=top_k, budget=budget, weights=read_weights(weights), child=child
    )
