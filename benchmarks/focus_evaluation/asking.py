"""Asking a lifetime for what was planted in it: was it brought into sight, and was it answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from amgs_focus.lens.question_search import QuestionSearch
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.protocols import PerfClock
from amgs_focus.runtime.runtime import FocusRuntime
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.working_context import SINKS, WorkingContext
from benchmarks.focus_evaluation.needles import Needle, Planted, choose


@dataclass(frozen=True, slots=True)
class AnswerCheck:
    """expanded: every token of the key stood in the working context as itself. answered: the right option was
    chosen. applied: expansions and collapses of the refocus.
    """

    expanded: bool
    answered: bool
    applied: int


def ask(
    tree: LifetimeTree,
    scorer: FocusScorer,
    settings: FocusSettings,
    planted: Planted,
    clock: PerfClock,
    search: QuestionSearch | None,
) -> AnswerCheck:
    """Lay the lifetime out, ask, refocus as after any question, choose. The lifetime is then as it was."""
    context, rows, applied = asked(tree, scorer, settings, planted.needle.question, clock, search)
    right = choose(tree.model, rows, planted.needle) == planted.needle.right
    return AnswerCheck(in_sight(context, planted), right, applied)


def asked(
    tree: LifetimeTree,
    scorer: FocusScorer,
    settings: FocusSettings,
    question: str,
    clock: PerfClock,
    search: QuestionSearch | None,
) -> tuple[WorkingContext, torch.Tensor, int]:
    """(the working context after a question and its refocus, its embeddings (W, d), actions that were applied).

    search: of the lifetime, as a session makes it; None leaves the question to the scorer. The lifetime is then as it
    was.
    """
    length = tree.length
    runtime = FocusRuntime(
        tree.model, scorer=scorer, settings=settings, tree=tree, clock=clock, search=search
    )
    try:
        runtime.question(question)
        record = runtime.refocus()
        context = runtime.context
        return context, context.embeddings(tree, 0, context.used), len(record.applied)
    finally:
        tree.truncate(length)


def in_sight(context: WorkingContext, planted: Planted) -> bool:
    """Whether every token of the key is an entry's own."""
    return stands_whole(context, planted.key_start, planted.key_end)


def stands_whole(context: WorkingContext, start: int, end: int) -> bool:
    """Whether every one of tokens [start, end) is an entry's own."""
    places = {context.covering(token) for token in range(start, end)}
    return all(place is not None and context.entries()[place].level == 0 for place in places)


def answers_from(model: BaseModel, tokens: Sequence[int], needle: Needle) -> bool:
    """Whether the right option is chosen after sinks, these tokens and the question, all in plain sight."""
    ids = [*model.sinks(), *tokens, *model.encode(model.turn(needle.question))]
    with torch.no_grad():
        rows = model.embed(torch.tensor(ids, dtype=torch.int64))
    return choose(model, rows, needle) == needle.right


def room_for_text(model: BaseModel, window: int, needle: Needle) -> int:
    """Tokens of text that a window holds beside the sinks, the question and its answer."""
    asked = len(model.encode(model.turn(needle.question)))
    answer = len(model.encode(needle.stem)) + max(len(model.encode(f" {o}")) for o in needle.options)
    return window - SINKS - asked - answer
