"""What the memory knows by name: `entity list`, `entity show`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.operations.arguments import Limit
from amgs_app.results.memory import EntityList

if TYPE_CHECKING:
    from amgs.types import EntityKnowledge, Progress
    from amgs_app.engine import Engine

TypeName = Literal["person", "organisation", "place", "project", "topic", "unknown"]


@operation(
    "entity list",
    summary="List people, places, projects and topics, the most often named first.",
    synonyms=("people", "who"),
    example="entity list --type person",
)
def entities(
    engine: Engine,
    *,
    kind: Annotated[
        TypeName | None, Option("--type", metavar="TYPE", help="Only entities of this type.")
    ] = None,
    min_mentions: Annotated[
        int, Option("--min-mentions", metavar="N", min=1, help="Only what is named at least N times.")
    ] = 2,
    limit: Limit = 50,
    progress: Progress | None = None,
) -> EntityList:
    """List what live blocks name, with aliases, type, mentions, and the dates of the first and last block.

    Names are read out of the blocks on the first call and kept for the session; markup, addresses and code name
    nothing. A type is given only where several cues agree on it.
    """
    known = engine.memory.entities
    found = known.list(limit, kind, min_mentions, progress=progress)
    return EntityList(found, known.count(kind, min_mentions))


@operation(
    "entity show",
    summary="Show what the memory knows about a name.",
    example="entity show Meret",
    lists=lambda found: [mention.block.id for mention in found.mentions],
)
def show(
    engine: Engine,
    name: Annotated[str, Arg(metavar="NAME", help="A name or an alias."), Takes("entity")],
    *,
    order: Annotated[
        Literal["relevance", "time"],
        Option("--order", metavar="ORDER", help="relevance, or time: the earliest first."),
    ] = "relevance",
    limit: Limit = 20,
    progress: Progress | None = None,
) -> EntityKnowledge:
    """Show the blocks that name it, each with the passage, its source and its date, and the entities beside it.

    What was superseded is marked and comes last in the order of relevance. A name that nothing is known by is answered
    with the names nearest to it.
    """
    return engine.memory.entities.get(name, limit, order, progress=progress)
