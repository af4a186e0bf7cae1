"""Measure how an answer's words depend on the opened blocks: how much less likely a word is with a block closed.

The control is a block that the question did not open: how much likelier the word is with that block open.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from amgs_focus.errors import FocusError
from amgs_focus.options import PerfClock, ProgressCallback
from amgs_focus.records import NodeRef, StepRecord, parent_of
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.runtime.utility import before_answer, measure_losses
from amgs_focus.runtime.view import token_texts
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.views import FocusView
from amgs_focus.window.working_context import WorkingContext

LEAST = 0.1
"""Nats below which a word depends on no block: any change of the window causes as much."""


@dataclass(frozen=True, slots=True)
class WordDependence:
    """A word of the answer.

    block: the block it depends on, None if closing none matters more than the control. nats: how much less likely the
    word is with that block closed. control: how much likelier it is with the control block open.
    """

    text: str
    block: NodeRef | None
    nats: float
    control: float


@dataclass(frozen=True, slots=True)
class AnswerDependence:
    """Dependence of an answer on the open blocks.

    words: joined they are the answer. blocks: the open blocks, each closed for one read. gains: what each adds to the
    whole answer, in nats. control: the gist opened for the control, None if the window has none. state_hash: of the
    window that was read.
    """

    words: tuple[WordDependence, ...]
    blocks: tuple[NodeRef, ...]
    gains: tuple[float, ...]
    control: NodeRef | None
    state_hash: str

    @property
    def block(self) -> NodeRef | None:
        """The block on which the whole answer depends most, or None."""
        best = max(self.gains, default=0.0)
        beyond = max(LEAST, sum(word.control for word in self.words))
        return self.blocks[self.gains.index(best)] if best > beyond else None


_KNOWN: WeakKeyDictionary[FocusRuntime, dict[tuple[WorkingContext, tuple[int, ...]], AnswerDependence]] = (
    WeakKeyDictionary()
)


def answer_dependence(runtime: FocusRuntime, progress: ProgressCallback | None = None) -> AnswerDependence:
    """Return the dependence of the present answer; the window is read once, and once with each open block closed.

    Raises FocusError when nothing was decoded, and whatever `progress` raises to cancel.
    """
    state, stops = runtime.state, runtime.model.stops
    answer = tuple(token for token in state.answer if token not in stops)
    if not answer:
        raise FocusError(
            "Nothing was decoded yet, so there is no answer to ask about.",
            title="No answer",
            way_out="Decode an answer first.",
            about="step",
        )
    context = before_answer(state)
    known = _KNOWN.setdefault(runtime, {})
    if (context, answer) not in known:
        dependence = measure_dependence(context, runtime.tree, answer, runtime.clock, runtime.state_hash(), progress)
        known[context, answer] = dependence
    return known[context, answer]


def measure_dependence(
    context: WorkingContext,
    tree: LifetimeTree,
    answer: tuple[int, ...],
    clock: PerfClock,
    state_hash: str = "",
    progress: ProgressCallback | None = None,
) -> AnswerDependence:
    """Return the dependence of an answer's tokens in any context that ends where the answer began.

    The lifetime need not hold the answer's tokens.
    """
    closable = [entry.node for entry in context.entries() if not entry.level and entry.end <= context.tail_start]
    shut = [at for at, entry in enumerate(context.entries()) if entry.level == 1 and not tree.is_sealed(entry.node)]
    control = shut[len(shut) // 2] if shut else None
    trials = [context.collapse(parent_of(node, context.block_size))[0] for node in reversed(closable)]
    if control is not None:
        trials.append(context.expand(control)[0])
    plain, *closed = measure_losses(context, tree, answer, trials, clock, progress)
    opened = plain - closed.pop() if control is not None else np.zeros(len(answer))
    worse = np.stack([loss - plain for loss in reversed(closed)]) if closed else np.zeros((0, len(answer)))
    words = []
    for text, at in _words(tree, answer):
        nats, beside = worse[:, at].sum(axis=1), float(opened[at].sum())
        best = int(nats.argmax()) if len(nats) else 0
        most = float(nats[best]) if len(nats) else 0.0
        block = closable[best] if most > max(LEAST, beside) else None
        words.append(WordDependence(text, block, most, beside))
    node = None if control is None else context.entries()[control].node
    gains = tuple(float(gain) for gain in worse.sum(axis=1))
    return AnswerDependence(tuple(words), tuple(closable), gains, node, state_hash)


def _words(tree: LifetimeTree, answer: tuple[int, ...]) -> list[tuple[str, slice]]:
    """Return the words of an answer, each with its tokens; a token that begins with a space begins a word."""
    words: list[tuple[str, slice]] = []
    for at, piece in enumerate(token_texts(tree.model, answer)):
        if words and not piece[:1].isspace():
            text, span = words[-1]
            words[-1] = (text + piece, slice(span.start, at + 1))
        else:
            words.append((piece, slice(at, at + 1)))
    return words


def answer_without(
    runtime: FocusRuntime,
    block: NodeRef,
    progress: ProgressCallback | None = None,
    on_record: Callable[[StepRecord], None] | None = None,
) -> FocusView:
    """Decode the answer again on a new branch with a block closed, up to the length of the first answer, which stays.

    Raises FocusError for a block that is not in the lifetime, and as decoding does.
    """
    gist = NodeRef(1, block.index)
    if not runtime.tree.exists(gist):
        raise FocusError(f"There is no block {block}.", way_out="Name an entry of the window, such as L0#3.")
    count = len(runtime.state.answer)
    runtime.branch(at=runtime.state.step - count)
    if runtime.context.position(NodeRef(0, block.index)) is not None:
        runtime.override(gist, "collapse")
        runtime.refocus()
    runtime.override(gist, "forbid")
    runtime.decode(max(1, count), progress, on_record)
    return runtime.snapshot()
