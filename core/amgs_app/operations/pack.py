"""Packs: `pack keep|list|show|diff|use|route|assemble|judge|uses|forecast|course|forget|habits|retire|…`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.operations.arguments import Limit
from amgs_app.results.memory import PackExported, PackList, PackUses

if TYPE_CHECKING:
    from amgs.types import JournalEntry
    from amgs.types.pack_assembly import PackAssembly
    from amgs.types.packs import (
        PackContent,
        PackCourse,
        PackDifference,
        PackForecast,
        PackHabits,
        PackKept,
        PackRoute,
        PackText,
        PackUse,
    )
    from amgs_app.engine import Engine

Reference = Annotated[
    str, Arg(metavar="NAME[@VERSION]", help="A pack, in its latest version unless one is named.")
]
Days = Annotated[int, Option("--days", metavar="N", min=1, help="How many days ahead.")]
Room = Annotated[
    int | None,
    Option(
        "--keep",
        metavar="TOKENS",
        min=0,
        help="Show what would have to go for the rest to fit in so many tokens.",
    ),
]
Budget = Annotated[
    int | None, Option("--budget", metavar="TOKENS", min=1, help="Token budget; default: 2,048.")
]

Session = Annotated[
    str, Option("--session", metavar="NAME", help="Names the task that several readings are for.")
]
Role = Annotated[
    Literal["source", "learning"] | None,
    Option("--role", metavar="ROLE", help="Only sources, or learnings."),
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
        int | None,
        Option("--budget", metavar="TOKENS", min=1, help="Token budget; default: the frame's own."),
    ] = None,
    block: Annotated[
        list[str] | None,
        Option("--block", metavar="ID", help="Keep this block, in place of a query; may be repeated."),
        Takes("block"),
    ] = None,
    title: Annotated[str, Option("--title", metavar="TEXT", help="What the pack is about.")] = "",
    keyword: Annotated[
        list[str] | None,
        Option(
            "--keyword",
            metavar="WORD",
            help="Use this keyword instead of those that are found; may be repeated.",
        ),
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
) -> PackList:
    """List packs by name, in their latest version, with how often they were read and how often that was useful."""
    return PackList(engine.memory.packs.list(retired=retired))


@operation(
    "pack show",
    summary="Show a pack's members.",
    example="pack show wifi",
    pane="packs",
    lists=lambda found: [block.id for block in found.blocks],
)
def show(engine: Engine, pack: Reference) -> PackContent:
    """Show a pack with its members as they are now, its keywords and its versions."""
    return engine.memory.packs.show(pack)


@operation(
    "pack diff",
    summary="Compare two versions of a pack.",
    example="pack diff wifi@1 wifi@2",
    lists=lambda found: [block.id for block in (*found.come, *found.gone)],
)
def diff(
    engine: Engine,
    left: Reference,
    right: Annotated[
        str, Arg(metavar="NAME[@VERSION]", help="Another; default: the latest of the same name.")
    ] = "",
) -> PackDifference:
    """Show which members and keywords came and went from one version, or one pack, to another."""
    return engine.memory.packs.diff(left, right)


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
    settle: Annotated[
        bool, Option("--settle", help="With --prune: let the language model decide close cases.")
    ] = False,
    session: Session = "",
) -> PackText:
    """Write a pack as one text: its learnings, then its sources, while they fit. That it was read is logged.

    With --prune the sentences stand in it that answer the query, by words, titles and the search's evidence, and each
    member that has one is cited. With --settle as well, the language model of the session decides between up to six
    sentences near the border of the budget, by which of them makes the first tokens of its answer likelier.
    """
    return engine.memory.packs.use(pack, query, budget=budget, prune=prune, settle=settle, session=session)


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
    """Choose whole packs so that together they answer most of the question for their tokens, and say what each adds to
    relevance, efficiency, quality, recency and domain. What repeats another pack adds little.
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
    "pack judge",
    summary="Say whether a pack that was read was useful.",
    example="pack judge 3 --useful",
    writes=True,
)
def judge(
    engine: Engine,
    use: Annotated[int, Arg(metavar="N", help="The number that `pack use` told.")],
    *,
    useful: Annotated[bool, Option("--useful/--useless", help="The verdict.")] = True,
) -> PackUse:
    """Note the outcome of a reading; it counts for the pack's success."""
    return engine.memory.packs.judge(use, useful=useful)


@operation("pack uses", summary="List when packs were read.", example="pack uses wifi", pane="packs")
def uses(
    engine: Engine,
    pack: Annotated[str | None, Arg(metavar="NAME", help="Only of this pack.")] = None,
    *,
    limit: Limit = 50,
) -> PackUses:
    """List readings, the newest first, with what they were for and their outcome."""
    return PackUses(engine.memory.packs.uses(pack, limit))


@operation(
    "pack forecast",
    summary="Forecast which packs will be needed.",
    example="pack forecast --days 7",
    pane="packs",
)
def forecast(engine: Engine, *, days: Days = 30, keep: Room = None) -> PackForecast:
    """Show how likely each pack is read within the next days, by when it was read so far. With --keep, also what
    `pack forget` would retire so that the others fit.
    """
    return engine.memory.packs.forecast(days=days, keep=keep)


@operation(
    "pack course",
    summary="Show how likely a pack was needed over time.",
    example="pack course wifi --days 30",
    pane="packs",
)
def course(engine: Engine, pack: Reference, *, days: Days = 30) -> PackCourse:
    """Show how likely a pack was read within so many days, since it was kept, by what had been read by then; and from
    now on if it is not read.
    """
    return engine.memory.packs.course(pack, days=days)


@operation(
    "pack forget",
    summary="Retire the packs that are least likely to be needed.",
    example="pack forget 10 --days 30",
    pane="packs",
    writes=True,
)
def forget(
    engine: Engine,
    keep: Annotated[int, Arg(metavar="TOKENS", help="The others take at most so many.")],
    *,
    days: Days = 30,
) -> PackForecast:
    """Retire packs until the others fit, as one change; `pack forecast --keep` shows them before, `undo` brings them
    back.
    """
    return engine.memory.packs.forget(keep=keep, days=days)


@operation(
    "pack habits",
    summary="Show which packs are read one after another, and together.",
    example="pack habits",
    pane="packs",
)
def habits(engine: Engine) -> PackHabits:
    """Show what follows what in sessions that have a name, and sets of packs that are read together at least five times
    and half as often again as by chance: kept as one pack they save a choice.
    """
    return engine.memory.packs.habits()


@operation(
    "pack retire",
    summary="Retire a pack: it is no longer listed or used.",
    synonyms=("remove",),
    example="pack retire wifi",
    writes=True,
)
def retire(engine: Engine, name: Annotated[str, Arg(metavar="NAME", help="The pack.")]) -> JournalEntry:
    """Retire a pack in all its versions; they and the log stay, and `undo` brings it back."""
    return engine.memory.packs.retire(name)


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
    "pack import",
    summary="Import an exported pack.",
    example="pack import wifi.json",
    writes=True,
    creates=True,
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
