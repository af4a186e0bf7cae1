"""The requests about what an answer missed, described once for both clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from amgs.client.ask import Ask, operation
from amgs.client.calls import weights_text

if TYPE_CHECKING:
    from amgs.types import Weights
    from amgs.types.diagnosis import Diagnosis, FixApplied


def diagnose(
    answer: str,
    missed: str,
    *,
    question: str = "",
    frame: str = "",
    budget: int | None = None,
    weights: Weights | None = None,
    exchange: int | None = None,
    conversation: str = "",
    block: str = "",
    questions: int = 20,
) -> Ask[Diagnosis]:
    """The one cause for which an answer missed a fact, and the first fix that works and moves hardly another answer."""
    given = _asked(answer, missed, question, frame, budget, weights, exchange, conversation, block, questions)
    return operation("diagnose", **given)


def fix(
    answer: str,
    missed: str,
    *,
    question: str = "",
    frame: str = "",
    budget: int | None = None,
    weights: Weights | None = None,
    exchange: int | None = None,
    conversation: str = "",
    block: str = "",
    questions: int = 20,
) -> Ask[FixApplied]:
    """Diagnose, and carry the fix out that is proposed; `undo` takes its operations back."""
    given = _asked(answer, missed, question, frame, budget, weights, exchange, conversation, block, questions)
    return operation("fix", writes=True, **given)


def _asked(
    answer: str,
    missed: str,
    question: str,
    frame: str,
    budget: int | None,
    weights: Weights | None,
    exchange: int | None,
    conversation: str,
    block: str,
    questions: int,
) -> dict[str, Any]:
    return {
        "answer": answer,
        "missed": missed,
        "question": question or None,
        "frame": frame or None,
        "budget": budget,
        "weights": weights_text(weights),
        "exchange": exchange,
        "conversation": conversation or None,
        "block": block or None,
        "questions": questions,
    }
