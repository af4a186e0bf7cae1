"""Operations `pack keep`, `list`, `assemble`, `outcome` and `change`, their results that are not types of the
engine, the terms in them, and the attention that the small language model pays from a question to sentences.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Final, cast

from amgs.errors import AmgsError
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.types import JournalEntry
    from amgs.wings.packs.choice import Attention
    from amgs.wings.packs.values import (
        PackAction,
        PackAssembly,
        PackContent,
        PackKept,
        PackLayer,
        PackOutcome,
        PackProposal,
        PackUsage,
    )
    from amgs_app.engine import Engine
    from amgs_focus.model.pretrained import PretrainedModel


@dataclass(frozen=True, slots=True)
class PackList:
    """`pack list`: the latest version of each pack, by name. keep: tokens that the packs to retain must fit in."""

    packs: tuple[PackUsage, ...]
    keep: int | None = None


@dataclass(frozen=True, slots=True)
class PackProposals:
    """`pack change`: proposals, most valuable first. done: what was just done, None for nothing."""

    proposals: tuple[PackProposal, ...]
    done: JournalEntry | None = None


WORDS: Final = (
    (
        "source, learning",
        "A member that was taken in as it is; a member that was written from other blocks and cites them.",
    ),
    ("uses, useful", "How often a version was read; the mean outcome of the rated readings."),
    ("needed", "From 0 to 1: how likely the pack is to be read within the next 30 days, from its readings so far."),
    ("weight", "From 0 to 1: what outcomes taught of the pack; .5 where they taught nothing."),
    ("worth", "How much of what answers the pack holds, as the layers that are switched on see it."),
    ("links", "What ties it to other packs in four graphs: semantic, temporal, causal, entity."),
    ("sure", "How sure the policy is about a proposal, from 0 to 1."),
    ("in, out", "Whether the pack is read for the question; because: why, or why not."),
)
"""Terms and what they mean."""


_WINDOW = 768
"""Tokens of sentences that are read at once before the question."""


def attention_of(engine: Engine) -> Attention | None:
    """Return a function that measures attention by the session's language model; None if there is none or it does not
    report attention.
    """
    try:
        model = engine.load_model()
    except AmgsError:
        return None
    from amgs_focus.model.pretrained import PretrainedModel

    if not isinstance(model, PretrainedModel):
        return None
    return lambda question, sentences: attend(model, question, sentences)


def attend(model: PretrainedModel, question: str, sentences: Sequence[str]) -> list[float]:
    """Return the mean attention per token of each sentence from the question after it, relative to the mean of its
    window, since windows differ in length.
    """
    import torch

    asked, sinks = model.encode(f"\n{question}\n"), model.sinks()
    tokens = [model.encode(f"{sentence}\n")[:_WINDOW] for sentence in sentences]
    paid: list[float] = []
    while len(paid) < len(tokens):
        window: list[Sequence[int]] = []
        for sentence in tokens[len(paid) :]:
            if sum(map(len, window)) + len(sentence) > _WINDOW:
                break
            window.append(sentence)
        read = [*sinks, *chain.from_iterable(window), *asked]
        with torch.no_grad():
            scores = iter(model.attention(model.embed(torch.tensor(read))[None], len(asked)).tolist()[len(sinks) :])
        means = [sum(islice(scores, len(sentence))) / max(len(sentence), 1) for sentence in window]
        mean = sum(means) / len(means)
        paid += [score / mean if mean else 0.0 for score in means]
    return paid


_LAYERS_HELP = "Of graphs, agents, attention, operations, focus, continuum, weights; or all, none."
_ACCEPT_HELP = "Carry this proposal out, as one change."
_REJECT_HELP = "Do not make this proposal again while its packs stay as they are."
_USES_HELP = "Readings, as `pack assemble` and `pack list NAME` number them."
_KEEP_HELP = "Show what would have to go for the rest to fit in so many tokens."


@operation(
    "pack keep",
    summary="Keep a frame, or blocks, as a pack.",
    synonyms=("bundle", "collection"),
    example='pack keep wifi "what is wrong with the wifi?"',
    writes=True,
)
def keep(
    engine: Engine,
    name: Annotated[str, Arg(metavar="NAME", help="The pack's name; a known name gets a new version.")],
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
) -> PackKept:
    """Keep what a frame selects for a query, or the blocks that are named, as the next version of a pack. Equal content
    is stored once; no version is written over.
    """
    blocks = tuple(block or ())
    return engine.memory.packs.keep(name, query=query, frame=frame, budget=budget, blocks=blocks, title=title)


@operation(
    "pack list",
    summary="List the packs that are saved, or show a pack: its members, readings and links.",
    example="pack list wifi",
    pane="packs",
    lists=lambda result: [block.id for block in result.blocks] if hasattr(result, "blocks") else None,
)
def packs(
    engine: Engine,
    pack: Annotated[
        str,
        Arg(metavar="NAME[@VERSION]", help="A pack, in its latest version unless you name one; default: list them."),
    ] = "",
    *,
    retired: Annotated[bool, Option("--retired", help="Also list retired packs.")] = False,
    keep: Annotated[int | None, Option("--keep", metavar="TOKENS", min=0, help=_KEEP_HELP)] = None,
) -> PackList | PackContent:
    """List packs by name, in their latest version, with how often they were read, how often that was useful, how likely
    each is read within 30 days, and the weight that outcomes taught; with a NAME, that pack with its members as they
    are now, its keywords, versions and readings, and what ties it to others in four graphs.
    """

    own = engine.memory.packs
    return own.show(pack) if pack else PackList(own.list(retired=retired, keep=keep), keep)


@operation(
    "pack assemble",
    summary="Write a text from packs for a question, within a budget.",
    synonyms=("route", "use"),
    example='pack assemble "when does the router fail?" --budget 600 --layers graphs,agents',
    pane="packs",
    writes=True,
    lists=lambda result: result.blocks,
)
def assemble(
    engine: Engine,
    query: Annotated[str, Arg(metavar="QUERY", help="The question; may be left out where a pack is named.")] = "",
    *,
    pack: Annotated[str, Option("--pack", metavar="NAME[@VERSION]", help="Read this pack alone.")] = "",
    budget: Annotated[
        int | None, Option("--budget", metavar="TOKENS", min=1, help="Token budget; default: 2,048.")
    ] = None,
    layers: Annotated[str, Option("--layers", metavar="NAME,NAME", help=_LAYERS_HELP)] = "none",
    session: Annotated[
        str, Option("--session", metavar="NAME", help="Names the task that several readings are for.")
    ] = "",
) -> PackAssembly:
    """Choose packs within four times the budget, join their members and write the sentences that answer the question,
    each member cited; each step says what it did. What was read is logged.

    Seven layers can be switched on. graphs: walk four graphs over packs by what the question asks for. agents: five
    agents choose, in three rounds, and vote. attention: of what does not fit, leave out what the language model pays
    little attention. operations: add, update, delete or merge for this text. focus: of what does not fit, keep what is
    central, once. continuum: forget, and follow what is read together. weights: what outcomes taught. None is on by
    default: none was shown to win.
    """

    chosen = read_layers(layers)
    attend = attention_of(engine) if "attention" in chosen else None
    own = engine.memory.packs
    return own.assemble(query, pack=pack, budget=budget, layers=chosen, session=session, attention=attend)


def read_layers(line: str) -> tuple[PackLayer, ...]:
    """Parse names of layers; raises UsageError for an unknown layer."""
    from amgs.errors import UsageError
    from amgs.wings.packs.values import LAYERS

    names = [name.strip() for name in line.lower().split(",") if name.strip()]
    wanted = LAYERS if names == ["all"] else [] if names == ["none"] else names
    unknown = [name for name in wanted if name not in LAYERS]
    if unknown:
        raise UsageError(f"There is no layer {unknown[0][:20]!r}.", way_out=f"Give all, none, or: {', '.join(LAYERS)}.")
    return tuple(cast("PackLayer", name) for name in wanted)


@operation(
    "pack outcome",
    summary="Say what came of readings of packs.",
    synonyms=("judge", "useful", "useless"),
    example="pack outcome 3 --score 0",
    writes=True,
)
def outcome(
    engine: Engine,
    uses: Annotated[list[int] | None, Arg(metavar="N", help=_USES_HELP)] = None,
    *,
    session: Annotated[str, Option("--session", metavar="NAME", help="All readings of this session.")] = "",
    score: Annotated[float, Option("--score", metavar="X", min=0, max=1, help="From 0 useless to 1 useful.")] = 1.0,
) -> PackOutcome:
    """Note the outcome of readings, as a single change that teaches the layers; `undo` unlearns it."""
    return engine.memory.packs.outcome(*(uses or ()), session=session, score=score)


@operation(
    "pack change",
    summary="Propose to add, update, delete or merge packs; decide, or do so.",
    synonyms=("retire", "forget", "proposals", "accept", "reject"),
    example="pack change DELETE wifi",
    pane="packs",
    writes=True,
    writes_by=("action", "accept", "reject"),
)
def change(
    engine: Engine,
    action: Annotated[str, Arg(metavar="ACTION", help="ADD, UPDATE, DELETE or MERGE; without it: proposals.")] = "",
    names: Annotated[list[str] | None, Arg(metavar="NAME", help="The packs.")] = None,
    *,
    accept: Annotated[str | None, Option("--accept", metavar="ID", help=_ACCEPT_HELP)] = None,
    reject: Annotated[str | None, Option("--reject", metavar="ID", help=_REJECT_HELP)] = None,
) -> PackProposals:
    """List what could be done with packs: a rule proposes, and a policy that learns from verdicts and outcomes says how
    sure that is. MERGE: packs whose members are the same become the first. UPDATE: what superseded a member takes its
    place. DELETE: retire what is hardly needed. ADD: packs that sessions read together become a new pack.
    """
    from amgs.errors import UsageError

    own = engine.memory.packs
    if sum((bool(action), accept is not None, reject is not None)) > 1:
        raise UsageError("That is two things at once.", way_out="Give an action, or accept or reject a proposal.")
    done = None
    if action:
        if action.upper() not in ("ADD", "UPDATE", "DELETE", "MERGE"):
            raise UsageError(f"There is no action {action[:20]!r}.", way_out="Give ADD, UPDATE, DELETE or MERGE.")
        done = own.change(cast("PackAction", action.upper()), *(names or ()))
    elif accept is not None or reject is not None:
        done = own.decide(accept or reject or "", accept=accept is not None)
    return PackProposals(own.proposals(), done)
