"""One token: read the working context, choose, and let the token join the lifetime."""

from __future__ import annotations

from dataclasses import replace

import torch

from amgs_focus.errors import WindowBudgetError
from amgs_focus.protocols import ProgressCallback
from amgs_focus.records import StepRecord
from amgs_focus.runtime.prefix import PrefixReader
from amgs_focus.runtime.state import FocusState
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.allocator import make_room
from amgs_focus.window.working_context import WorkingContext


def decode_token(
    state: FocusState,
    tree: LifetimeTree,
    reader: PrefixReader,
    generator: torch.Generator,
    progress: ProgressCallback | None = None,
) -> tuple[StepRecord, FocusState]:
    """The record of one more token and the state after it; the tree has grown by it.

    Times, refocus and state hash of the record are the caller's to fill in. Raises BudgetError where no
    position can be made free, FocusError where the model fails, and whatever `progress` raises to cancel; the
    tree is then as it was.
    """
    model, settings = tree.model, state.settings
    context = state.context if state.context.free >= 1 else _room_for_one(state, tree)
    reading = reader.read(context, tree, progress)
    token, nll = choose(reading.logits, settings.temperature, generator)
    context = context.extended(tree.length + 1)
    context.check()
    tree.append([token], kind="generated")
    answer = (*state.answer, token)
    stops = token in model.stops
    after = replace(
        state,
        context=context,
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
    """(V,) -> the next token and its NLL in nats under the model itself, whatever the temperature."""
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
