"""What frames promise of their questions, beside what they hold: by the labelled questions of the other conversations,
through `amgs.calibration.forecasting`; a question is held where all that answers it is in.

SESSION is as it ships. Of the best hits it refuses what matches much worse than the first, so that some questions are
held at no budget, and levels above their share are promised at none. WIDE is ATTENTION without that. The controls:
promises from labels that were dealt anew among the questions of a conversation, and the share that the frame holds at
a constant budget.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from amgs.calibration.forecasting import LEVELS, promise_budget
from amgs.diagnosis.diagnosing import MOST, LabelledQuestion, frame_builder, least_budget
from amgs.frames import shipping
from benchmarks.bench_results import BenchTable
from benchmarks.questioned import AskedQuestion, QuestionedMemory

FRAMES: Final = ("SESSION", "WIDE")
BUDGET: Final = 614
"""Tokens of the control that are the same whatever is asked for."""
_WIDE: Final = replace(
    shipping.ATTENTION, name="WIDE", rule=replace(shipping.ATTENTION.rule, similarity_share=0.0, pool=2_000)
)


@dataclass(frozen=True, slots=True)
class ConversationNeeds:
    """Least budgets of a frame for the questions of one conversation, and for the same with labels dealt anew. wavered:
    how many frames with more to spend than that, drawn at random, held less.
    """

    needed: tuple[int | None, ...]
    dealt_anew: tuple[int | None, ...]
    wavered: int


def measure_needs(given: QuestionedMemory, asked: Sequence[AskedQuestion], seed: int) -> dict[str, ConversationNeeds]:
    """What the questions of a conversation need, by frame."""
    given.memory.define_frame(_WIDE)
    context = given.memory._context
    known = context.definitions()
    labels = [frozenset(wanted for wanted, _, _ in one.wanted) for one in asked]
    anew = random.Random(seed).sample(labels, len(labels))
    found = {}
    for name in FRAMES:
        needed, dealt, wavered, drawn = [], [], 0, random.Random(seed)
        with context.derived.searching() as sources:
            for one, label, other in zip(asked, labels, anew, strict=True):
                true = LabelledQuestion(name, one.text, label)
                made = frame_builder(context, true, known, sources)
                needed.append(least_budget(made, true.is_satisfied))
                dealt.append(least_budget(made, LabelledQuestion(name, one.text, other).is_satisfied))
                if (least := needed[-1]) is not None:
                    wavered += not true.is_satisfied(made(drawn.randint(least, MOST)))
        found[name] = ConversationNeeds(tuple(needed), tuple(dealt), wavered)
    return found


def hold_promises(corpus: str, measured: Sequence[dict[str, ConversationNeeds]]) -> tuple[dict[str, float], BenchTable]:
    """For each level, the share of questions held within what the other conversations promise, in percent; and how far
    that is off, in points. A promise that cannot be made is left out.
    """
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for name in FRAMES:
        found = [each[name] for each in measured]
        others = [[one for each in found if each is not own for one in each.needed] for own in found]
        anew = [[one for each in found if each is not own for one in each.dealt_anew] for own in found]
        every = [one for own in found for one in own.needed]
        for level in LEVELS:
            held, tokens = _within(found, [promise_budget(one, level) for one in others])
            control, more = _within(found, [promise_budget(one, level) for one in anew])
            rows.append((name, f"{level:.0%}", _or_none(tokens), _or_none(held), _or_none(control), _or_none(more)))
            if held is not None:
                key = f"coverage_{100 * level:.0f}_{name.lower()}_{corpus}"
                metrics |= {key: held, f"{key}_off": abs(held - 100 * level)}
        constant, _ = _within(found, [BUDGET] * len(found))
        rows.append((name, "nothing", BUDGET, _or_none(constant), "–", "–"))
        metrics[f"coverage_wavered_{name.lower()}_{corpus}"] = 100 * sum(one.wavered for one in found) / len(every)
    title = f"Promised on {corpus}, and held on the conversation left out, {len(every)} questions"
    columns = ("frame", "promised", "tokens", "held, percent", "held, labels dealt anew", "tokens, dealt anew")
    return metrics, BenchTable(title, columns, tuple(rows))


def _within(found: Sequence[ConversationNeeds], budgets: Sequence[int | None]) -> tuple[float | None, float | None]:
    """The share of questions held within the budget of their conversation, in percent, and the mean budget; None where
    none is promised.
    """
    pairs = [
        (one is not None and one <= budget, budget)
        for own, budget in zip(found, budgets, strict=True)
        if budget is not None
        for one in own.needed
    ]
    if not pairs:
        return None, None
    return 100 * sum(held for held, _ in pairs) / len(pairs), sum(budget for _, budget in pairs) / len(pairs)


def _or_none(value: float | None) -> str | float:
    return "no promise" if value is None else value
