"""Perform one step: a refocus where one is due, then one decoded token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch

from amgs_focus.errors import FocusError, WindowBudgetError
from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.protocols import PerfClock, ProgressCallback
from amgs_focus.records import Action, Decision, NodeRef, Refocus, ScoreRow, StepRecord
from amgs_focus.runtime.prefix import PrefixReader
from amgs_focus.runtime.state import FocusState, Parts, mean_residency
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

    After new text there are `question_passes` passes of at most `question_n_diff` actions, else
    `refinement_passes` of at most `n_diff`; they end early when one applies nothing. While nothing is asked one pass
    exchanges a pair. Raises FocusError for
    scores that are none, WindowBudgetError as `allocate` does.
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
        # of two passes the later one's answer counts; what was applied is not asked about again
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
    """Return each entry's named summands."""
    named = {name: aggregate(context, part) for name, part in scores.parts.items()}
    return {
        entry.node: tuple((name, float(part[place])) for name, part in named.items())
        for place, entry in enumerate(context.entries())
    }


def _require_scores(scores: Scores, context: WorkingContext, scorer: FocusScorer) -> None:
    """NaN fails the comparison too."""
    values = scores.values
    if len(values) != context.used - SINKS or not bool(((values >= -1) & (values <= 1)).all()):
        raise FocusError(
            f"The scorer {scorer.name!r} did not give one score in [-1, 1] for each position.",
            way_out="Use another checkpoint, or the similarity baseline.",
        )


def decode_token(
    state: FocusState,
    tree: LifetimeTree,
    reader: PrefixReader,
    generator: torch.Generator,
    progress: ProgressCallback | None = None,
) -> tuple[StepRecord, FocusState]:
    """Return the record of one more token and the state after it; the tree has grown by it.

    Times, refocus and state hash of the record are the caller's to fill in. Raises WindowBudgetError where no
    position can be made free, FocusError where the model fails, and whatever `progress` raises to cancel; the
    tree is then as it was.
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
    """Return (V,) -> the next token and its NLL in nats under the model itself, whatever the temperature."""
    log_probabilities = torch.log_softmax(logits.double(), dim=-1)
    if temperature == 0:
        token = int(logits.argmax())
    else:
        weights = torch.softmax(logits.double() / temperature, dim=-1)
        token = int(torch.multinomial(weights, 1, generator=generator))
    return token, -float(log_probabilities[token])


def _room_for_one(state: FocusState, tree: LifetimeTree) -> WorkingContext:
    """Room for one token, where the cadence is longer than the window could promise."""
    allocator = replace(state.allocator, headroom=1)
    context = make_room(state.context, state.scores, tree, state.settings, allocator).context
    if context.free < 1:
        raise WindowBudgetError(
            f"{context.window} positions are full, and nothing more can be collapsed.",
            way_out="Use a larger window, or a shorter tail.",
        )
    return context
