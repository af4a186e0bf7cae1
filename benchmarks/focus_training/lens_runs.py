"""Snapshots for LensNet's labels: the working contexts that a run over a text passes through.

MegaContext, "LensNet training" and "On-policy labeling". Snapshot number n is a function of (seed, n) alone, so that
labelling can stop anywhere and go on, in any order.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from amgs_focus.errors import TextError, WindowBudgetError
from amgs_focus.gist import GistEncoder
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.runtime.prefix import FocusState, PrefixReader
from amgs_focus.runtime.timeline import refocus
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.allocator import make_room
from amgs_focus.window.candidates import assemble, coarsest
from amgs_focus.window.working_context import TreeShape, WorkingContext
from benchmarks.focus_training.counterfactuals import LabelSnapshot, candidates
from benchmarks.focus_training.facts import fact_text

PARAGRAPH = 96  # tokens of a filler paragraph at most


@dataclass(frozen=True, slots=True)
class LensText:
    """A document as token ids; `group` is what validation holds apart as a whole."""

    name: str
    group: str
    tokens: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class LensRuns:
    """How runs are drawn. blocks: least and most of a lifetime; each other tuple is drawn from evenly.

    facts: share of runs that are made-up facts and a question. shaken: share of the others whose layout was
    stirred with random actions instead of the policy's. spread: share of runs that begin with gists all over the
    lifetime instead of detail at its end. groups: texts are drawn by group first, then by length.
    """

    seed: int = 0
    blocks: tuple[int, int] = (30, 120)
    windows: tuple[int, ...] = (256, 256, 384)
    tails: tuple[int, ...] = (1, 2)
    horizons: tuple[int, ...] = (32, 64)
    refocuses: tuple[int, ...] = (0, 1, 3)
    facts: float = 0.3
    shaken: float = 0.3
    spread: float = 0.5


@dataclass(frozen=True, slots=True)
class LensSnapshot:
    """A snapshot with where it came from. asked: nodes that hold the fact that the question is about."""

    number: int
    document: str
    group: str
    snapshot: LabelSnapshot
    asked: tuple[int, int] = (0, 0)


def snapshot_at(
    number: int,
    texts: Sequence[LensText],
    runs: LensRuns,
    model: BaseModel,
    gist: GistEncoder,
    scorer: FocusScorer,
    block_size: int = 32,
) -> LensSnapshot:
    """Snapshot `number` of the runs. Raises TextError when no text is long enough."""
    generator = random.Random(f"{runs.seed}:{number}")
    text = text_of(generator, texts, runs, block_size)
    while True:
        blocks = generator.randint(*runs.blocks)
        settings = FocusSettings(
            block_size=block_size,
            window=generator.choice(runs.windows),
            tail_blocks=generator.choice(runs.tails),
            cadence=block_size,
        )
        rounds = generator.choice(runs.refocuses)
        asking = generator.random() < runs.facts
        if asking:
            made = _asked(generator, text, blocks * block_size, model)
        else:
            horizon = generator.choice(runs.horizons)
            made = excerpt(generator, text, blocks * block_size + rounds * block_size, horizon, block_size)
        if made is not None:
            break
    tree = LifetimeTree(model, gist, block_size=block_size)
    try:
        context = _run(generator, made, rounds, tree, settings, scorer, runs)
    except WindowBudgetError:  # a window that cannot hold the lifetime at its coarsest: another draw
        return snapshot_at(number + 1_000_000, texts, runs, model, gist, scorer, block_size)
    return LensSnapshot(
        number=number,
        document=text.name,
        group=text.group,
        snapshot=LabelSnapshot(context, tree, made.future, made.question),
        asked=made.asked,
    )


@dataclass(frozen=True, slots=True)
class DrawnQuestion:
    """Tokens before the question, the turn that asks it, the question alone, what comes next, and the span of
    the fact.
    """

    tokens: tuple[int, ...]
    future: tuple[int, ...]
    question_turn: tuple[int, ...] = ()
    question: tuple[int, ...] = ()
    asked: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True)
class ToldFact:
    """A fact of a lifetime and the tokens [start, end) that tell it."""

    span: tuple[int, int]
    question: str
    answer: str


@dataclass(frozen=True, slots=True)
class FactLifetime:
    """A lifetime of facts among other text."""

    tokens: tuple[int, ...]
    facts: tuple[ToldFact, ...]


def text_of(generator: random.Random, texts: Sequence[LensText], runs: LensRuns, block_size: int) -> LensText:
    need = runs.blocks[0] * block_size + 8 * block_size
    long = [text for text in texts if len(text.tokens) >= need]
    if not long:
        raise TextError(
            f"No text has the {need} tokens that a run needs.", way_out="Give longer texts, or fewer blocks."
        )
    group = generator.choice(sorted({text.group for text in long}))
    members = [text for text in long if text.group == group]
    return generator.choices(members, [len(text.tokens) for text in members])[0]


def excerpt(
    generator: random.Random, text: LensText, length: int, horizon: int, block_size: int
) -> DrawnQuestion | None:
    """A place of the text with `length` and some tokens before it, and what comes next."""
    length += generator.randrange(block_size)
    room = len(text.tokens) - length - horizon
    if room < 0:
        return None
    start = generator.randrange(room + 1)
    tokens = text.tokens[start : start + length + horizon]
    return DrawnQuestion(tokens[:length], tokens[length:])


def fact_lifetime(generator: random.Random, text: LensText, length: int, model: BaseModel) -> FactLifetime | None:
    """Facts among paragraphs of the text, in about `length` tokens; None where the text is too short."""
    if len(text.tokens) < length:
        return None
    start = generator.randrange(len(text.tokens) - length + 1)
    facts = max(2, length // generator.choice((64, 96, 160, 320)))
    filler, place = [], start
    while place < start + length - facts * 16:
        step = generator.randrange(PARAGRAPH // 3, PARAGRAPH)
        filler.append(model.decode(text.tokens[place : place + step]).strip())
        place += step
    written = fact_text(generator, filler, facts)
    tokens: list[int] = []
    spans = []
    for paragraph in written.paragraphs:
        piece = model.encode(f"{paragraph}\n\n")
        spans.append((len(tokens), len(tokens) + len(piece)))
        tokens += piece
    told = tuple(ToldFact(spans[fact.paragraph], fact.question, fact.answer) for fact in written.facts)
    return FactLifetime(tuple(tokens), told)


def _asked(generator: random.Random, text: LensText, length: int, model: BaseModel) -> DrawnQuestion | None:
    """A lifetime of facts, a question about one of them, and its answer."""
    lifetime = fact_lifetime(generator, text, length, model)
    if lifetime is None:
        return None
    fact = generator.choice(lifetime.facts)
    return DrawnQuestion(
        tokens=lifetime.tokens,
        future=tuple(model.encode(fact.answer)),
        question_turn=tuple(model.encode(model.turn(fact.question))),
        question=tuple(model.encode(fact.question)),
        asked=fact.span,
    )


def _run(
    generator: random.Random,
    made: DrawnQuestion,
    rounds: int,
    tree: LifetimeTree,
    settings: FocusSettings,
    scorer: FocusScorer,
    runs: LensRuns,
) -> WorkingContext:
    """Read all but the last rounds, refocus once a block, ask, and stop before the next refocus."""
    size, shaken = settings.block_size, generator.random() < runs.shaken
    begin = len(made.tokens) - rounds * size
    tree.append(made.tokens[:begin])
    free = size + int(generator.choice((0.0, 0.25, 0.5)) * settings.window)
    lay = spread if generator.random() < runs.spread else assemble
    context = lay(tree, settings.window, settings.tail_blocks, headroom=free)
    state = FocusState(context, settings)
    reader = PrefixReader(tree.model, _Still())
    for place in range(begin, len(made.tokens), size):
        if shaken:
            state = replace(state, context=stirred(generator, state.context, tree))
        else:
            state, _ = refocus(state, tree, scorer, settings, reader, _Still())
        state = _grown(state, made.tokens[place : place + size], tree, settings)
    if shaken:
        state = replace(state, context=stirred(generator, state.context, tree))
    state = _grown(state, made.question_turn, tree, settings)
    state.context.check()
    return state.context


def _grown(state: FocusState, tokens: Sequence[int], tree: LifetimeTree, settings: FocusSettings) -> FocusState:
    """The state with tokens read and room made for them."""
    tree.append(tokens)
    allocator = replace(state.allocator, headroom=0)
    grown = state.context.extend_lifetime(tree.length)
    return replace(state, context=make_room(grown, state.scores, tree, settings, allocator).context)


def stirred(generator: random.Random, context: WorkingContext, tree: LifetimeTree) -> WorkingContext:
    """Up to four random actions that the window allows."""
    for _ in range(generator.randrange(5)):
        fitting = [one for one in candidates(context, tree) if one.context.free >= context.block_size]
        if fitting:
            context = generator.choice(fitting).context
    return context


class _Still:
    """A clock on which nothing takes any time: how long a run took is no part of its labels."""

    def perf(self) -> float:
        return 0.0


def spread(tree: TreeShape, window: int, tail_blocks: int, *, headroom: int = 0) -> WorkingContext:
    """Detail for the coarsest first, then for the latest: as much of the lifetime as fits at one level.

    A layout in which every block's worth can be measured; nothing is decided in it yet. headroom and errors
    as in `assemble`.
    """
    context = coarsest(tree, window, tail_blocks)
    for level in range(max((entry.level for entry in context.items), default=0), 0, -1):
        # latest first, so that the places still to come do not shift
        for place in reversed([at for at, entry in enumerate(context.items) if entry.level == level]):
            entry = context.items[place]
            if context.free - headroom < context.expand_cost(place):
                break
            if not tree.is_sealed(entry.node):
                context, _ = context.expand(place)
    context.check()
    return context
