"""`entity`: people, places, projects and topics that blocks name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from amgs_app import results
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.types import EntityKnowledge, Progress
    from amgs_app.engine import Engine

TypeName = Literal["person", "organisation", "place", "project", "topic", "unknown"]


@operation(
    "entity",
    summary="List people, places, projects and topics, or show what is known of one.",
    synonyms=("people", "who"),
    example="entity Meret",
    lists=lambda result: [mention.block.id for mention in result.mentions] if hasattr(result, "mentions") else None,
)
def entity(
    engine: Engine,
    name: Annotated[
        str | None,
        Arg(metavar="NAME", help="A name or an alias; default: list those named most often."),
        Takes("entity"),
    ] = None,
    *,
    kind: Annotated[TypeName | None, Option("--type", metavar="TYPE", help="List: only entities of this type.")] = None,
    min_mentions: Annotated[
        int, Option("--min-mentions", metavar="N", min=1, help="List: only what is named at least N times.")
    ] = 2,
    order: Annotated[
        Literal["relevance", "time"],
        Option("--order", metavar="ORDER", help="Of one: relevance, or time: the earliest first."),
    ] = "relevance",
    limit: Annotated[
        int | None, Option("--limit", metavar="N", min=1, help="At most N; default: 50 entities, 20 blocks of one.")
    ] = None,
    progress: Progress | None = None,
) -> results.EntityList | EntityKnowledge:
    """List what live blocks name, with aliases, type, mentions, and the dates of the first and last block.

    With a NAME, show the blocks that name it, each with the passage, its source and its date, and the entities beside
    it; what was superseded is marked and comes last in the order of relevance. A name that nothing is known by is
    answered with the names nearest to it.

    Names are read out of the blocks on the first call and kept for the session; markup, addresses and code name
    nothing. A type is given only where several cues agree on it.
    """
    known = engine.memory.entities
    if name is not None:
        return known.get(name, limit or 20, order, progress=progress)
    entities = known.list(limit or 50, kind, min_mentions, progress=progress)
    return results.EntityList(entities, known.count(kind, min_mentions))
