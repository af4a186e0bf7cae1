"""What each sentence of packs is worth: `pack sentences`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Arg, Option
from amgs_app.calls.operation import operation
from amgs_app.operations.pack import Budget

if TYPE_CHECKING:
    from amgs.types.pack_sentences import PackSentences
    from amgs_app.engine import Engine


@operation(
    "pack sentences",
    summary="Show what each sentence is worth for a question.",
    example='pack sentences "when does the router fail?" --budget 400',
    pane="packs",
)
def sentences(
    engine: Engine,
    query: Annotated[str, Arg(metavar="QUERY", help="The question.")],
    *,
    pack: Annotated[
        str | None,
        Option(
            "--pack", metavar="NAME", help="Only of this pack; default: of the packs chosen for the query."
        ),
    ] = None,
    budget: Budget = None,
) -> PackSentences:
    """Show what each sentence of a pack is worth for a question and which of them `pack use --prune` writes; without
    --pack, those of the packs that `pack assemble` chooses. Nothing is logged.
    """
    return engine.memory.packs.sentences(query, pack=pack, budget=budget)
