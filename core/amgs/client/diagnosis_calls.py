"""The requests about what an answer missed, described once for both clients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from amgs.client.ask import Ask, operation
from amgs.client.calls import weights_text

if TYPE_CHECKING:
    from amgs.types.diagnosis import Diagnosis, DiagnosisArguments, FixApplied


def diagnose(answer: str, missed: str, **asked_of: Unpack[DiagnosisArguments]) -> Ask[Diagnosis]:
    """The one cause for which an answer missed a fact, and the first fix that works and moves hardly another answer."""
    return operation("diagnose", answer=answer, missed=missed, **_written(asked_of))


def fix(answer: str, missed: str, **asked_of: Unpack[DiagnosisArguments]) -> Ask[FixApplied]:
    """Diagnose, and carry the fix out that is proposed; `undo` takes its operations back."""
    return operation("fix", writes=True, answer=answer, missed=missed, **_written(asked_of))


def _written(asked_of: DiagnosisArguments) -> dict[str, Any]:
    """The arguments as the service reads them; what is empty is left out."""
    given = {**asked_of, "weights": weights_text(asked_of.get("weights"))}
    return {name: None if value == "" else value for name, value in given.items()}
