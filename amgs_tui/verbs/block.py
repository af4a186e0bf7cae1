"""Looking at blocks: `block show`, `block find`, `select`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from amgs_tui.verbs.arguments import Limit, Reference
from amgs_tui.verbs.registry import verb
from amgs_tui.verbs.results import BlockDetail, BlockList, Selected

if TYPE_CHECKING:
    from amgs_tui.session import Session


@verb("block show", summary="Show a block: its text, where it came from, how fresh it is.")
def show(session: Session, block: Reference = None) -> BlockDetail:
    """Show a block with its metadata, its relevance now and the number of its edges.

    Looking at a block does not reinforce it.
    """
    from amgs.decay import profile_name, relevance_at

    chosen = session.block(block)
    edges = session.memory.edges(chosen.id)
    return BlockDetail(
        block=chosen,
        relevance=relevance_at(chosen.decay_lambda, chosen.last_reinforced_at, session.clock.now()),
        profile=profile_name(chosen.decay_lambda),
        edges_out=sum(edge.source_id == chosen.id for edge in edges),
        edges_in=sum(edge.target_id == chosen.id for edge in edges),
    )


@verb("block find", summary="Find blocks by their title or text, typing errors forgiven.", keys=("slash",))
def find(
    session: Session,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="Part of a title or of the text.")],
    *,
    limit: Limit = 20,
) -> BlockList:
    """Find blocks whose title or text resembles TEXT, best first."""
    blocks = session.memory.find(text, limit)
    session.listed = tuple(block.id for block in blocks)
    return BlockList(text, blocks)


@verb("select", summary="Select a block: every pane that can shows it.")
def select(session: Session, block: Reference = None) -> Selected:
    """Select a block. Verbs that take an ID use it when none is given."""
    chosen = session.block(block)
    session.selection = chosen.id
    return Selected(chosen)
