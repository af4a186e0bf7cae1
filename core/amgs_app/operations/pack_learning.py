"""What could be done with packs, and what decisions and outcomes taught.

`pack propose|proposals|accept|reject|policy|credit|weights`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Arg, Option
from amgs_app.calls.operation import operation
from amgs_app.results.memory import PackProposalList

if TYPE_CHECKING:
    from amgs.types import JournalEntry, Progress
    from amgs.types.pack_learning import PackPolicy, PackProposals
    from amgs.types.pack_weights import PackCredits, PackWeights
    from amgs_app.engine import Engine

Number = Annotated[int, Arg(metavar="N", help="The proposal, as `pack proposals` numbers them.")]


@operation(
    "pack propose",
    summary="Propose to merge, update, retire or join packs.",
    example="pack propose",
    pane="packs",
    writes=True,
)
def propose(
    engine: Engine,
    *,
    limit: Annotated[int | None, Option("--limit", metavar="N", min=1, help="At most N proposals.")] = None,
    explore: Annotated[
        float,
        Option(
            "--explore",
            metavar="P",
            min=0.0,
            max=1.0,
            help="Chance of giving a place to any candidate at random.",
        ),
    ] = 0.0,
    queue: Annotated[bool, Option("--queue", help="Queue them for `pack accept` or `pack reject`.")] = False,
) -> PackProposals:
    """Propose what could be done with packs; no pack is changed before a proposal is accepted.

    MERGE: two packs whose members say the same. UPDATE: members that were superseded. DELETE: packs that are hardly
    needed any more. ADD: packs that are read together become one. A rule proposes, and is the default: learning is
    asked only where decisions show that it is better (`pack policy`). --explore lets chance into the order, so that
    decisions can show it; what would not be proposed without it may stand in the list too.
    """
    return engine.memory.packs.propose(limit=limit, explore=explore, queue=queue)


@operation(
    "pack proposals",
    summary="List proposals about packs that await a decision.",
    example="pack proposals",
    pane="packs",
)
def proposals(
    engine: Engine,
    *,
    every: Annotated[bool, Option("--every", help="Also list earlier and decided proposals.")] = False,
) -> PackProposalList:
    """List what `pack propose --queue` left to decide, in its order."""
    return PackProposalList(engine.memory.packs.proposals(every=every))


@operation("pack accept", summary="Carry out a proposal about packs.", example="pack accept 1", writes=True)
def accept(engine: Engine, number: Number) -> JournalEntry:
    """Carry a proposal out as one change, which `undo` takes back; no block is changed."""
    return engine.memory.packs.accept(number)


@operation(
    "pack reject",
    summary="Reject a proposal about packs.",
    example="pack reject 1",
    writes=True,
)
def reject(engine: Engine, number: Number) -> JournalEntry:
    """Say that a proposal is not wanted: it is not made again while its packs stay as they are."""
    return engine.memory.packs.reject(number)


@operation(
    "pack policy",
    summary="Show which policy makes the proposals about packs, and why.",
    example="pack policy",
)
def policy(engine: Engine) -> PackPolicy:
    """Show whether the rule or what was learned from decisions is in force, and what the log says of both.

    The rule is the default. What is learned replaces it where the 95 % interval of its gain, by doubly robust
    estimation from lists that --explore put in another order, lies above 0, and the log is worth 30 rounds for it.
    Even then it only orders and withholds: a merge or a retirement that the rule is against is never proposed.
    """
    return engine.memory.packs.policy()


@operation(
    "pack credit",
    summary="Show what each pack contributed to an answer.",
    example='pack credit 3 "When it rains."',
    long=True,
    writes=True,
)
def credit(
    engine: Engine,
    use: Annotated[int, Arg(metavar="N", help="A reading, as `pack uses` numbers them.")],
    answer: Annotated[str, Arg(metavar="ANSWER", help="The answer that was given after it.")],
    *,
    progress: Progress | None = None,
) -> PackCredits:
    """Say how much less likely the language model finds an answer where one of the packs that were read for it is left
    out, and note that in the log, where `pack weights` reads it; `undo` takes it back.

    Packs that were read for the same question in the same session, or by one `pack assemble`, are credited together.
    The answer itself is not kept. The model reads the text of all packs once, and about half of it again for each pack:
    1,000 tokens in four packs take SmolLM2 about a quarter of a minute of processor time. One reading says little;
    docs/results/packs.md has how little.
    """
    return engine.memory.packs.credit(use, answer, progress=progress)


@operation(
    "pack weights",
    summary="Show what was learned about packs from judged readings.",
    example="pack weights",
    pane="packs",
)
def weights(engine: Engine) -> PackWeights:
    """Show what judged readings taught: weights that all packs share, and a small offset of each.

    It explains only: nothing that chooses packs asks it, and it is called better than no learning only where it
    foretells the last third of the outcomes better, by the lower end of the 95 % interval, and over 30 of them. The
    outcome of a session is a weak signal, and packs that are read together do not share one reward: where all packs of
    a session (`--session`) got one verdict, its weight is 0, and what `pack credit` noted of each counts in its place;
    where that verdict is useless, a pack that made the answer likelier did no good. Judge each reading by itself
    (`pack judge`), or have it credited.
    """
    return engine.memory.packs.weights()
