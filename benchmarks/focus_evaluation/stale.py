"""What it costs to keep keys and values though something before them changed: the NLL of what follows, and facts.

The same refocuses, the same tokens: only how their contexts are read differs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.protocols import PerfClock
from amgs_focus.runtime.prefix import PrefixReader
from amgs_focus.runtime.read_history import NOTHING_READ, ReadHistory
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.runtime.state import FocusState
from amgs_focus.runtime.step import refocus
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.layout import lay_out
from benchmarks.focus_evaluation.needles import Planted


@dataclass(frozen=True, slots=True)
class StaleReads:
    """Of each part of the future: nll in nats a token, positions computed before it, and reads since the last one in
    full, 0 for one in full.
    """

    nll: tuple[float, ...]
    computed: tuple[int, ...]
    since: tuple[int, ...]


def stale_reads(
    tree: LifetimeTree,
    scorer: FocusScorer,
    settings: FocusSettings,
    future: Sequence[int],
    full_read_every: Sequence[int],
    clock: PerfClock,
) -> tuple[StaleReads, ...]:
    """Refocus before every cadence of the future and read it with each of the settings; the lifetime is then cut back.

    The first part is left out: every setting reads it in full.
    """
    length, model = tree.length, tree.model
    state = FocusState(lay_out(tree, settings), settings)
    idle = PrefixReader(model, clock)
    readers = [PrefixReader(model, clock) for _ in full_read_every]
    histories = [NOTHING_READ for _ in full_read_every]
    found: list[list[tuple[float, int, int]]] = [[] for _ in full_read_every]
    try:
        for start in range(0, len(future), settings.cadence):
            part = list(future[start : start + settings.cadence])
            state, _ = refocus(state, tree, scorer, settings, idle, clock)
            for number, (reader, every) in enumerate(zip(readers, full_read_every, strict=True)):
                now = histories[number].after(state.context, tree.generation, reader.every(every))
                computed = reader.read(now, tree).dirty
                nll = float(reader.losses(now, tree, part).mean())
                found[number].append((nll, computed, len(now.contexts) - 1))
                histories[number] = now
            tree.append(part)
            # the last token is read with what the next refocus changes, as in decoding
            read = state.context.extended(tree.length - 1)
            for number, every in enumerate(full_read_every):
                if len(part) > 1:
                    now = histories[number].after(read, tree.generation, every)
                    readers[number].read(now, tree)
                    histories[number] = now
            state = replace(state, context=state.context.extended(tree.length))
    finally:
        tree.truncate(length)
    return tuple(StaleReads(*zip(*parts[1:], strict=True)) for parts in found)


@dataclass(frozen=True, slots=True)
class StaleAnswer:
    """Whether the right option was chosen where the question's context was read in full, and by reusing what stood
    before it; computed: positions of the one and of the other.
    """

    full: bool
    stale: bool
    computed: tuple[int, int]


def stale_answer(
    tree: LifetimeTree, scorer: FocusScorer, settings: FocusSettings, planted: Planted, clock: PerfClock
) -> StaleAnswer:
    """Read a lifetime's layout, ask, refocus, and choose with both reads. The lifetime is then as it was."""
    length = tree.length
    runtime = FocusRuntime(tree.model, scorer=scorer, settings=settings, tree=tree, clock=clock)
    try:
        before = ReadHistory((runtime.context,), tree.generation)
        runtime.question(planted.needle.question)
        runtime.refocus()
        chosen, computed = [], []
        for every in (1, 2):
            reader = PrefixReader(tree.model, clock)
            reader.read(before, tree)
            now = before.after(runtime.context, tree.generation, reader.every(every))
            computed.append(reader.read(now, tree).dirty)
            chosen.append(_chosen(tree.model, reader, now, tree, planted) == planted.needle.right)
        return StaleAnswer(chosen[0], chosen[1], (computed[0], computed[1]))
    finally:
        tree.truncate(length)


def _chosen(
    model: BaseModel, reader: PrefixReader, history: ReadHistory, tree: LifetimeTree, planted: Planted
) -> int:
    """The option that the model finds likeliest after the stem of the answer."""
    stem = model.encode(planted.needle.stem.rstrip(" "))
    losses = []
    for option in planted.needle.options:
        answer = model.encode(f" {option}")
        losses.append(float(reader.losses(history, tree, [*stem, *answer])[len(stem) :].sum()))
    return min(range(len(losses)), key=losses.__getitem__)
