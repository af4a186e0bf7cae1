"""Carry out a step: a refocus if due, then a decoded token; and record all moves in branches, so that each can be
undone or repeated.

A branch is the list of its moves from the beginning; branches share the moves before they part. Undoing cuts tokens
from the lifetime, repeating appends them again; both restore exactly the earlier state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import torch

from amgs_focus.errors import FocusError, WindowBudgetError
from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.options import PerfClock, ProgressCallback
from amgs_focus.records import (
    BLANK,
    Action,
    BranchView,
    Decision,
    NodeRef,
    Refocus,
    ScoreRow,
    SpanAbout,
    SpanSource,
    StepRecord,
)
from amgs_focus.runtime.prefix import FocusState, Parts, PrefixReader, mean_residency
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.allocator import allocate, make_room
from amgs_focus.window.working_context import SINKS, Scores, WorkingContext, aggregate


def refocus(
    state: FocusState,
    tree: LifetimeTree,
    scorer: FocusScorer,
    settings: FocusSettings,
    reader: PrefixReader,
    clock: PerfClock,
    *,
    forced: bool = False,
) -> tuple[FocusState, Refocus]:
    """Return the state after a refocus and its record; nothing else changes.

    After new text there are up to `question_passes` passes of at most `question_n_diff` actions, else up to
    `refinement_passes` of at most `n_diff`; a pass that applies nothing is the last. While nothing is asked, one pass
    exchanges a pair. Raises FocusError for invalid scores, WindowBudgetError as `allocate` does.
    """
    began = clock.perf()
    number = state.allocator.refocus + 1
    allocator = replace(state.allocator, refocus=number, headroom=settings.cadence)
    every = reader.every(settings.full_read_every)
    context, edits, done = state.context, 0, 0
    prices = reader.prices(state.reads, context, tree, every)
    decisions: dict[tuple[NodeRef, Action], Decision] = {}
    scores: Mapping[NodeRef, float] = {}
    parts: dict[NodeRef, Parts] = {}
    share = None
    passes = settings.refinement_passes
    pairs = settings.unasked == "pair" and not state.question
    if pairs:
        passes = 1
    elif state.fresh:
        passes = settings.question_passes
        settings = settings.model_copy(update={"n_diff": settings.question_n_diff})
    for done in range(1, passes + 1):
        lens_scores = scorer.score(LensView(context, tree, state.question_tokens, state.findings))
        _require_scores(lens_scores, context, scorer)
        parts |= _parts(lens_scores, context)
        share = lens_scores.question_share
        allocation = allocate(context, lens_scores, tree, settings, allocator, prices, pairs=pairs)
        context, allocator, scores = allocation.context, allocation.state, allocation.scores
        prices = allocation.prices
        edits += len(allocation.edits)
        # a later pass replaces an earlier decision; applied actions do not come up again
        decisions |= {(action.node, action.kind): replace(action, refinement=done) for action in allocation.actions}
        if not allocation.edits:
            break
    parts = {entry.node: parts[entry.node] for entry in context.entries() if entry.node in parts}
    residency = {entry.node: state.residency.get(entry.node, number) for entry in context.entries()}
    outside = sum(entry.end <= context.tail_start for entry in context.entries())
    swap_rate = edits / outside if outside else 0.0
    dirty = state.reads.pending(context, tree.generation, every)
    record = Refocus(
        number=number,
        step=state.step,
        lifetime=context.lifetime,
        scores=tuple(
            ScoreRow(entry.node, entry.start, entry.end, scores[entry.node], parts.get(entry.node, ()))
            for entry in context.entries()
        ),
        decisions=tuple(
            sorted(decisions.values(), key=lambda decision: (decision.start, decision.level, decision.kind))
        ),
        bands=context.bands(),
        used_before=state.context.used,
        used=context.used,
        window=context.window,
        passes=done,
        swap_rate=swap_rate,
        mean_residency=mean_residency(context, residency, number),
        dirty=dirty,
        predicted_ms=prices.milliseconds(dirty),
        milliseconds=(clock.perf() - began) * 1000,
        forced=forced,
    )
    after = replace(
        state,
        context=context,
        allocator=allocator,
        since=0,
        fresh=False,
        residency=residency,
        scores=scores,
        parts=parts,
        last=record,
        history=(*state.history, record.bands)[-settings.history :],
        swaps=(*state.swaps, record.swap_rate)[-settings.history :],
        question_share=share,
    )
    return after, record


def _parts(scores: Scores, context: WorkingContext) -> dict[NodeRef, Parts]:
    """Return the named summands of each entry's score."""
    named = {name: aggregate(context, part) for name, part in scores.parts.items()}
    return {
        entry.node: tuple((name, float(part[place])) for name, part in named.items())
        for place, entry in enumerate(context.entries())
    }


def _require_scores(scores: Scores, context: WorkingContext, scorer: FocusScorer) -> None:
    """Raise FocusError unless there is a score in [-1, 1] for each position; NaN fails the comparison too."""
    values = scores.values
    if len(values) != context.used - SINKS or not bool(((values >= -1) & (values <= 1)).all()):
        raise FocusError(
            f"The scorer {scorer.name!r} did not give a score in [-1, 1] for each position.",
            way_out="Use another checkpoint, or the similarity baseline.",
        )


def decode_token(
    state: FocusState,
    tree: LifetimeTree,
    reader: PrefixReader,
    generator: torch.Generator,
    progress: ProgressCallback | None = None,
) -> tuple[StepRecord, FocusState]:
    """Return the record of one more token and the state after it; the token is appended to the tree.

    The caller fills in the record's times, refocus and state hash. Raises WindowBudgetError where no position can be
    freed, FocusError where the model fails, and whatever `progress` raises to cancel; the tree is then unchanged.
    """
    model, settings = tree.model, state.settings
    context = state.context if state.context.free >= 1 else _room_for_one(state, tree)
    every = reader.every(settings.full_read_every)
    reads = state.reads.after(context, tree.generation, every)
    reading = reader.read(reads, tree, progress)
    token, nll = choose(reading.logits, settings.temperature, generator)
    context = context.extend_lifetime(tree.length + 1)
    context.check()
    tree.append([token], kind="generated")
    answer = (*state.answer, token)
    stops = token in model.stops
    after = replace(
        state,
        context=context,
        reads=reads,
        step=state.step + 1,
        since=state.since + 1,
        answer=answer,
        finished=stops or (bool(state.question) and len(answer) >= settings.answer_tokens),
    )
    record = StepRecord(
        step=after.step,
        token=token,
        text="" if stops else model.decode([token]),
        nll=nll,
        finished=after.finished,
        lifetime=tree.length,
        used=context.used,
        window=context.window,
        dirty=reading.dirty,
        milliseconds=0.0,
        state_hash="",
        refocus=None,
    )
    return record, after


def choose(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> tuple[int, float]:
    """Return the next token for logits (V,), and its NLL in nats under the model itself, whatever the temperature."""
    log_probabilities = torch.log_softmax(logits.double(), dim=-1)
    if temperature == 0:
        token = int(logits.argmax())
    else:
        weights = torch.softmax(logits.double() / temperature, dim=-1)
        token = int(torch.multinomial(weights, 1, generator=generator))
    return token, -float(log_probabilities[token])


def _room_for_one(state: FocusState, tree: LifetimeTree) -> WorkingContext:
    """Return the context with room for one token, where the cadence is longer than the reserved room."""
    allocator = replace(state.allocator, headroom=1)
    context = make_room(state.context, state.scores, tree, state.settings, allocator).context
    if context.free < 1:
        raise WindowBudgetError(
            f"{context.window} positions are full, and nothing more can be collapsed.",
            way_out="Use a larger window, or a shorter tail.",
        )
    return context


MAIN = "main"


@dataclass(frozen=True, slots=True)
class TimelineSpan:
    """Tokens of the lifetime with their source and metadata."""

    tokens: tuple[int, ...]
    span: SpanSource
    about: SpanAbout = BLANK


@dataclass(slots=True, eq=False)
class Move:
    """A change of the state: a decoded token (which has a record), appended text, a refocus, an override or a setting.

    after: the state it led to. pieces: the tokens that it appended, stored when it is first undone.
    """

    after: FocusState
    record: StepRecord | None = None
    pieces: tuple[TimelineSpan, ...] | None = None


@dataclass(slots=True)
class _Line:
    """A branch. at: the step at which it left its parent."""

    name: str
    parent: str = ""
    at: int = 0
    moves: list[Move] = field(default_factory=list)


class Timeline:
    """The branches over one lifetime, and how many moves of the present branch are in force."""

    def __init__(self, tree: LifetimeTree, reader: PrefixReader, start: FocusState) -> None:
        self._tree = tree
        self._reader = reader
        self._start = start
        self._lines = {MAIN: _Line(MAIN)}
        self._line = self._lines[MAIN]
        self._place = 0

    @property
    def name(self) -> str:
        """Name of the present branch."""
        return self._line.name

    @property
    def steps(self) -> int:
        """Decoded tokens in force."""
        return self.state.step

    @property
    def steps_known(self) -> int:
        """Decoded tokens on this branch, undone ones included."""
        return self._line.moves[-1].after.step if self._line.moves else self._start.step

    def ahead(self) -> Move | None:
        """Return the next undone move, or None."""
        return self._line.moves[self._place] if self._place < len(self._line.moves) else None

    def add(self, move: Move) -> BranchView | None:
        """Add a move that just happened. If undone moves follow here, begin a branch, return it, and leave them on the
        old one.
        """
        forked = self.fork() if self.ahead() is not None else None
        self._line.moves.append(move)
        self._place += 1
        return forked

    def forward(self) -> Move:
        """Repeat the next undone move."""
        move = self._line.moves[self._place]
        for piece in move.pieces or ():
            span = piece.span
            self._tree.append(piece.tokens, source=span.source, kind=span.kind, label=span.label, about=piece.about)
        self._place += 1
        return move

    def back(self) -> Move:
        """Undo the last move in force."""
        self._place -= 1
        move = self._line.moves[self._place]
        start, end = self.state.context.lifetime, move.after.context.lifetime
        if move.pieces is None:
            move.pieces = tuple(
                TimelineSpan(
                    tuple(int(token) for token in self._tree.tokens(span.start, span.end)),
                    span,
                    self._tree.catalogue.about(span.start),
                )
                for span in self._tree.sources(start, end)
            )
        if start < self._tree.length:
            self._reader.forget(self._tree, start)
            self._tree.truncate(start)
        return move

    def back_steps(self, n: int) -> None:
        """Undo the last n decoded tokens and everything between them. Raises FocusError when there are fewer."""
        known = self.steps - self._start.step
        if not 0 < n <= known:
            raise FocusError(
                f"{known} steps can be undone, not {n}.",
                title="Nothing further back",
                way_out=f"Step back by 1 to {known}." if known else "Decode first.",
            )
        while n:
            n -= self.back().record is not None

    def fork(self, name: str | None = None) -> BranchView:
        """Begin a branch here and continue on it; the old branch keeps all its moves.

        Raises FocusError for a name that is empty or taken.
        """
        chosen = self._free_name() if name is None else name
        if chosen in self._lines or not chosen.strip():
            raise FocusError(
                f"There is already a branch {chosen!r}." if chosen.strip() else "A branch needs a name.",
                title="The branch cannot be created",
                way_out="Choose another name.",
            )
        line = _Line(chosen, self._line.name, self.steps, self._line.moves[: self._place])
        self._lines[chosen] = self._line = line
        return self._view(line)

    def seek(self, step: int) -> None:
        """Go to a step of this branch, forwards or back.

        Raises FocusError when the branch has no such step.
        """
        if not self._start.step <= step <= self.steps_known:
            raise FocusError(
                f"The branch {self.name!r} has steps {self._start.step} to {self.steps_known}, not {step}.",
                title="There is no such step",
                way_out="Choose any of them.",
            )
        while self.steps > step:
            self.back()
        while self.steps < step:
            self.forward()

    def switch(self, name: str) -> int:
        """Go to the end of a branch; return the step up to which both agree. Raises FocusError for an unknown name."""
        if name not in self._lines:
            raise FocusError(
                f"There is no branch {name!r}.", title="No such branch", way_out=f"Available: {', '.join(self._lines)}."
            )
        target = self._lines[name]
        common = _common(self._line.moves[: self._place], target.moves)
        while self._place > common:
            self.back()
        shared = self.steps
        self._line = target
        while self._place < len(target.moves):
            self.forward()
        return shared

    @property
    def state(self) -> FocusState:
        """State after the last move in force."""
        return self._line.moves[self._place - 1].after if self._place else self._start

    def views(self) -> tuple[BranchView, ...]:
        """Return all branches, oldest first."""
        return tuple(self._view(line) for line in self._lines.values())

    def _free_name(self) -> str:
        number = len(self._lines)
        while f"branch-{number}" in self._lines:
            number += 1
        return f"branch-{number}"

    def _view(self, line: _Line) -> BranchView:
        steps = [move.record for move in line.moves if move.record is not None]
        return BranchView(
            name=line.name,
            parent=line.parent,
            at=line.at,
            steps=self._start.step + len(steps),
            active=line is self._line,
            text="".join(record.text for record in steps[max(0, line.at - self._start.step) :]),
            state_hash=steps[-1].state_hash if steps else "",
        )


def _common(ours: Sequence[Move], theirs: Sequence[Move]) -> int:
    """Return how many leading moves two branches share."""
    pairs = zip(ours, theirs, strict=False)
    return next((at for at, (a, b) in enumerate(pairs) if a is not b), min(len(ours), len(theirs)))
