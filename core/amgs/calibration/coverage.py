"""Promise how often a frame's budget is enough, from the tokens that earlier questions needed (`diagnosis.needs`).

The method is split conformal prediction (Vovk, Gammerman and Shafer 2005): it assumes only that the next question is
drawn like the earlier ones. Every frame shows the promise that `add_promise` adds.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Final

from amgs.calibration.results import FrameNeeds
from amgs.frames import registry
from amgs.frames.registry import Definitions
from amgs.storage.assemblies import version_of
from amgs.storage.forecasts import CalibrationFit
from amgs.storage.store import Storage
from amgs.types import Frame
from amgs.types.calibration import CoverageLevel, CoverageReview, FrameCoverage

LEVELS: Final = (0.8, 0.9, 0.95)
"""Probabilities for which the needed budget is shown."""
LEAST: Final = 30
"""Questions below which nothing is promised, as the share would scatter by more than 15 points."""

Needed = Sequence[int | None]
"""Tokens that each question needed; None where no budget was enough."""


def promise_budget(needed: Needed, level: float) -> int | None:
    """Return the budget that is enough for the next question with probability `level` at least: the
    ceil((n + 1) · level)-th smallest of n needs. None where the questions are too few, or too many never had enough.
    """
    place = math.ceil(round((len(needed) + 1) * level, 9))  # rounded: 0.9 · 70 is no more than 63
    known = sorted(need for need in needed if need is not None)
    return known[place - 1] if 0 < place <= len(known) else None


def coverage_at(needed: Needed, budget: int) -> FrameCoverage | None:
    """Return the share of questions for which a budget is enough, and the budget for each level; None for fewer than
    LEAST questions.
    """
    if len(needed) < LEAST:
        return None
    hits = sum(need is not None and need <= budget for need in needed)
    costs = tuple((level, promise_budget(needed, level)) for level in LEVELS)
    return FrameCoverage(len(needed), hits / (len(needed) + 1), costs)


def review(needs: FrameNeeds) -> CoverageReview:
    """Check each promise: for every question from the LEAST-th on, whether the budget promised by those before it was
    enough. Leaving out a question at a time would prove nothing: the k-th of n sorted needs always covers k of them.
    """
    needed, levels = needs.needed, []
    if len(needed) >= LEAST:
        for level in LEVELS:
            budgets = [promise_budget(needed[:n], level) for n in range(LEAST, len(needed))]
            tried = [
                own is not None and own <= budget
                for own, budget in zip(needed[LEAST:], budgets, strict=True)
                if budget is not None
            ]
            levels.append(CoverageLevel(level, promise_budget(needed, level), sum(tried), len(tried)))
    return CoverageReview(needs.frame, len(needed), LEAST, tuple(levels))


def add_promise(frame: Frame, known: Definitions, fitted: CalibrationFit) -> Frame:
    """Return a frame with the coverage that its budget promises; unchanged where it has no query, or where its
    definition changed since the needs were measured.
    """
    needs = _read_needs(fitted.needs).get(frame.name) if frame.query.strip() else None
    if needs is None or needs.definition != definition_hash(frame.name, known):
        return frame
    return replace(frame, coverage=coverage_at(needs.needed, frame.budget))


def reviews(storage: Storage) -> tuple[CoverageReview, ...]:
    """Return how well the current calibration's promises came true, a review for each frame."""
    return tuple(review(frame_needs) for frame_needs in _read_needs(storage.forecasts.needs()).values())


def definition_hash(name: str, known: Definitions) -> str:
    """Return a hash of a frame's definition and those below it, without its budget."""
    definition = registry.find(name, known)
    below = [child for child in registry.tree(definition, known) if child is not definition]
    return version_of([replace(definition, budget=1), *below])


def to_json(needs: Sequence[FrameNeeds]) -> str:
    """Return needs as the JSON that `ForecastStorage.put_needs` stores."""
    return json.dumps({frame_needs.frame: [frame_needs.definition, frame_needs.needed] for frame_needs in needs})


def is_readable(text: str) -> bool:
    """Return whether a text can be read as needs; a damaged import cannot."""
    try:
        return all(
            isinstance(frame_needs.definition, str)
            and all(need is None or type(need) is int for need in frame_needs.needed)
            for frame_needs in _read_needs(text).values()
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        return False


@lru_cache(maxsize=4)
def _read_needs(text: str | None) -> Mapping[str, FrameNeeds]:
    data = {} if text is None else json.loads(text)
    return {name: FrameNeeds(name, definition, tuple(needed)) for name, (definition, needed) in data.items()}
