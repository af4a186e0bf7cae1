"""Packs: `pack keep|list|show|diff|use|judge|route|assemble|learn|proposals|weights|retire|export|import`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.views.packs.results import PackExported, PackList, PackProposalList

if TYPE_CHECKING:
    from amgs.types import JournalEntry
    from amgs.wings.packs.values import (
        PackAssembly,
        PackContent,
        PackDifference,
        PackKept,
        PackLearned,
        PackRoute,
        PackText,
        PackUse,
        PackWeights,
    )
    from amgs_app.engine import Engine

Reference = Annotated[str, Arg(metavar="NAME[@VERSION]", help="A pack, in its latest version unless one is named.")]
Budget = Annotated[int | None, Option("--budget", metavar="TOKENS", min=1, help="Token budget; default: 2,048.")]

Session = Annotated[str, Option("--session", metavar="NAME", help="Names the task that several readings are for.")]
Role = Annotated[
    Literal["source", "learning"] | None, Option("--role", metavar="ROLE", help="Only sources, or learnings.")
]


@operation(
    "pack keep",
    summary="Keep a frame, or blocks, as a pack.",
    synonyms=("bundle", "collection"),
    example='pack keep wifi "what is wrong with the wifi?"',
    writes=True,
)
def keep(
    engine: Engine,
    name: Annotated[str, Arg(metavar="NAME", help="The pack's name; a new version where there is one.")],
    query: Annotated[str, Arg(metavar="QUERY", help="Keep what a frame selects for it.")] = "",
    *,
    frame: Annotated[
        str, Option("--frame", metavar="NAME", help="The frame that selects for the query."), Takes("frame")
    ] = "SESSION",
    budget: Annotated[
        int | None, Option("--budget", metavar="TOKENS", min=1, help="Token budget; default: the frame's own.")
    ] = None,
    block: Annotated[
        list[str] | None,
        Option("--block", metavar="ID", help="Keep this block, in place of a query; may be repeated."),
        Takes("block"),
    ] = None,
    title: Annotated[str, Option("--title", metavar="TEXT", help="What the pack is about.")] = "",
    keyword: Annotated[
        list[str] | None,
        Option("--keyword", metavar="WORD", help="Use this keyword instead of those that are found; may be repeated."),
    ] = None,
) -> PackKept:
    """Keep what a frame selects for a query, or the blocks that are named, as the next version of a pack.

    Equal content is kept once. A version is never written over; `undo` takes it back.
    """
    return engine.memory.packs.keep(
        name,
        query=query,
        frame=frame,
        budget=budget,
        blocks=tuple(block or ()),
        title=title,
        keywords=tuple(keyword or ()),
    )


@operation("pack list", summary="List the packs that are kept.", example="pack list", pane="packs")
def packs(
    engine: Engine,
    *,
    retired: Annotated[bool, Option("--retired", help="Also list retired packs.")] = False,
    keep: Annotated[
        int | None,
        Option(
            "--keep", metavar="TOKENS", min=0, help="Show what would have to go for the rest to fit in so many tokens."
        ),
    ] = None,
) -> PackList:
    """List packs by name, in their latest version, with how often they were read, how often that was useful, and how
    likely each is read within 30 days, by when it was read so far. With --keep, also which to retire so that the others
    fit: the least needed first.
    """
    return PackList(engine.memory.packs.list(retired=retired, keep=keep), keep)


@operation(
    "pack show",
    summary="Show a pack's members, or what differs from another version.",
    example="pack show wifi@2 --against wifi@1",
    pane="packs",
    lists=lambda found: [
        block.id for block in (found.blocks if hasattr(found, "blocks") else (*found.come, *found.gone))
    ],
)
def show(
    engine: Engine,
    pack: Reference,
    *,
    against: Annotated[
        str, Option("--against", metavar="NAME[@VERSION]", help="Show what came and went since this one instead.")
    ] = "",
) -> PackContent | PackDifference:
    """Show a pack with its members as they are now, its keywords, its versions, when it was read, and what links it to
    other packs: relations between their members that are semantic, temporal, causal or of entities.
    """
    if against:
        return engine.memory.packs.diff(against, pack)
    return engine.memory.packs.show(pack)


@operation(
    "pack use",
    summary="Read a pack within a budget.",
    example='pack use wifi "when does the router fail?" --budget 400',
    writes=True,
)
def use(
    engine: Engine,
    pack: Reference,
    query: Annotated[str, Arg(metavar="QUERY", help="What it is read for; noted in the log.")] = "",
    *,
    budget: Budget = None,
    prune: Annotated[
        bool, Option("--prune", help="Give the sentences that answer the query instead of whole members.")
    ] = False,
    session: Session = "",
) -> PackText:
    """Write a pack as one text: its learnings, then its sources, while they fit. That it was read is logged.

    With --prune the sentences stand in it that answer the query, by words, titles and the search's evidence, and each
    member that has one is cited.
    """
    return engine.memory.packs.use(pack, query, budget=budget, prune=prune, session=session)


@operation(
    "pack route",
    summary="Choose the packs for a question, within a budget.",
    example='pack route "when does the router fail?"',
    pane="packs",
)
def route(
    engine: Engine,
    query: Annotated[str, Arg(metavar="QUERY", help="The question.")],
    *,
    budget: Budget = None,
    role: Role = None,
) -> PackRoute:
    """Choose whole packs so that together they answer most of the question for their tokens, and say what each adds.
    What repeats another pack adds little. It also says what the question seems to ask for: a time, one thing, several,
    or what is likely.
    """
    return engine.memory.packs.route(query, budget=budget, role=role)


@operation(
    "pack assemble",
    summary="Write one text from all packs for a question, within a budget.",
    example='pack assemble "when does the router fail?" --budget 600',
    writes=True,
    lists=lambda made: made.blocks,
)
def assemble(
    engine: Engine,
    query: Annotated[str, Arg(metavar="QUERY", help="The question.")],
    *,
    budget: Budget = None,
    role: Role = None,
    session: Session = "",
) -> PackAssembly:
    """Choose packs within four times the budget, join their members and write the sentences that answer the question,
    each member cited. The ledger tells the tokens that went into each stage and out of it, what was left out and why.
    What was read of each pack is logged. SESSION stays the default: this holds more of what answers, but so do the
    likeliest messages without packs.
    """
    return engine.memory.packs.assemble(query, budget=budget, role=role, session=session)


@operation(
    "pack judge", summary="Say whether a pack that was read was useful.", example="pack judge 3 --useful", writes=True
)
def judge(
    engine: Engine,
    use: Annotated[int, Arg(metavar="N", help="Its number, as `pack use` and `pack show` give it.")],
    *,
    useful: Annotated[bool, Option("--useful/--useless", help="The verdict.")] = True,
) -> PackUse:
    """Note the outcome of a reading; it counts for the pack's success."""
    return engine.memory.packs.judge(use, useful=useful)


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
        list[str] | None, Option("--with", metavar="NAME", help="Include what another pack holds; may be repeated.")
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
    "pack proposals",
    summary="Propose to merge, update, retire or join packs, and decide.",
    synonyms=("accept", "reject"),
    example="pack proposals",
    pane="packs",
    writes=True,
)
def proposals(
    engine: Engine,
    *,
    accept: Annotated[
        str | None, Option("--accept", metavar="ID", help="Carry this proposal out, as one change.")
    ] = None,
    reject: Annotated[
        str | None,
        Option("--reject", metavar="ID", help="Do not make this proposal again while its packs stay as they are."),
    ] = None,
) -> PackProposalList:
    """List what could be done with packs, by a rule; nothing is changed before a proposal is accepted, and `undo` takes
    that back.

    MERGE: two packs whose members say the same. UPDATE: members that were superseded. DELETE: packs that are hardly
    needed any more. ADD: packs that sessions read together become one.
    """
    from amgs.errors import UsageError

    packs = engine.memory.packs
    if accept is not None and reject is not None:
        raise UsageError("A proposal is accepted or rejected.", way_out="Decide on one at a time.")
    decided = None
    if accept is not None:
        decided = packs.accept(accept)
    elif reject is not None:
        decided = packs.reject(reject)
    return PackProposalList(packs.proposals(), decided)


@operation("pack weights", summary="Show what was learned about packs from judged readings.", example="pack weights")
def weights(engine: Engine) -> PackWeights:
    """Show what verdicts on readings (`pack judge`) say of each pack: the share that was useful, and its lower bound. A
    pack is thought useful where that is above one half.

    It explains only: nothing that chooses packs asks it. Packs that are read together do not share one reward: where
    all packs of a session (`--session`) got one verdict, it counts for none. Judge each reading by itself.
    """
    return engine.memory.packs.weights()


@operation(
    "pack retire",
    summary="Retire packs: they are no longer listed or used.",
    synonyms=("remove", "forget"),
    example="pack retire wifi",
    writes=True,
)
def retire(engine: Engine, names: Annotated[list[str], Arg(metavar="NAME", help="The packs.")]) -> JournalEntry:
    """Retire packs in all their versions, as one change; they and the log stay, and `undo` brings them back.

    `pack list --keep TOKENS` says which to retire for the others to fit.
    """
    return engine.memory.packs.retire(*names)


@operation("pack export", summary="Write a pack to a JSON file.", example="pack export wifi wifi.json")
def export(
    engine: Engine,
    pack: Reference,
    path: Annotated[Path, Arg(metavar="PATH", help="The file to write."), Takes("file", made=True)],
) -> PackExported:
    """Write a pack with the texts, dates and metadata of its members; `pack import` takes it into another memory."""
    from amgs.exchange.values import written

    document = engine.memory.packs.document(pack)
    written(path, iter([json.dumps(document, ensure_ascii=False, indent=1), "\n"]))
    return PackExported(str(path), document["name"], len(document["members"]))


@operation(
    "pack import", summary="Import an exported pack.", example="pack import wifi.json", writes=True, creates=True
)
def load(
    engine: Engine,
    file: Annotated[Path, Arg(metavar="FILE", help="What `pack export` wrote."), Takes("file")],
    *,
    name: Annotated[str, Option("--name", metavar="NAME", help="Import it under another name.")] = "",
) -> PackKept:
    """Take its members in as raw blocks and keep it as the next version of its name, as one change."""
    from amgs.exchange.importers.parsing import parse

    return engine.memory.packs.load(parse(file), name=name)
