"""What packs teach: `pack learn|restore`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.types.pack_consolidation import PackLearned, RestoredLearning
    from amgs_app.engine import Engine


@operation(
    "pack learn",
    summary="Condense a pack's sources into learnings; the sources stay as they are.",
    example="pack learn wifi --dry-run",
    writes=True,
    lists=lambda found: [one.block.id for one in found.learnings],
)
def learn(
    engine: Engine,
    name: Annotated[str, Arg(metavar="NAME", help="The pack; its next version holds the learnings, too.")],
    *,
    others: Annotated[
        list[str] | None,
        Option("--with", metavar="NAME", help="Include what another pack holds; may be repeated."),
    ] = None,
    share: Annotated[
        float,
        Option(
            "--share",
            metavar="X",
            min=0.01,
            max=1,
            help="How long the learnings may be: a share of the sources' tokens.",
        ),
    ] = 0.25,
    dry_run: Annotated[bool, Option("--dry-run", help="Show the plan and change nothing.")] = False,
) -> PackLearned:
    """Make a learning of each eight sources, at most, that speak of one thing: the sentence that weighs most, what was
    decided, and names, dates and numbers, word for word and each cited. Sources stay as they are, and learnings are
    never made of learnings nor rewritten: where no two sources are new, nothing happens. `undo` takes it back.

    It happens only when asked for: read at equal length, sources that a search finds answer more than learnings do.
    """
    return engine.memory.packs.learn(name, others=tuple(others or ()), share=share, dry_run=dry_run)


@operation(
    "pack restore",
    summary="Show the sources behind a learning, whole.",
    example="pack restore @1",
    lists=lambda found: [one.block.id for one in found.sources],
)
def restore(
    engine: Engine,
    learning: Annotated[
        str,
        Arg(metavar="ID", help="A learning: the start of its id, or @3 of the last list."),
        Takes("block"),
    ],
) -> RestoredLearning:
    """Show what a learning was made of, and what of each source stands in it; also what a merge or a split was made
    of.
    """
    return engine.memory.packs.restore(learning)
