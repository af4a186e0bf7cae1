"""Count the tokens that questions need until all that they must rest on is in, and bound those of a further one: split
conformal prediction (Vovk, Gammerman and Shafer 2005), which supposes nothing of memory or questions but that the
further one is drawn as these were.
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
"""Chances for which a budget is told."""
LEAST: Final = 30
"""With fewer questions nothing is promised: the share that is held would scatter by more than 15 points."""

Needed = Sequence[int | None]
"""Tokens that questions needed, None for one of which not all was ever in."""


def promise_budget(needed: Needed, level: float) -> int | None:
    """Return the budget within which a further question is held with a chance of at least `level`: the ceil((n + 1) ·
    level)-th of what n questions needed. None where too few were asked to promise it, or too many were never held.
    """
    place = math.ceil(round((len(needed) + 1) * level, 9))  # rounded: 0.9 · 70 is no more than 63
    known = sorted(need for need in needed if need is not None)
    return known[place - 1] if 0 < place <= len(known) else None


def coverage_at(needed: Needed, budget: int) -> FrameCoverage | None:
    """Return what a budget promises: the highest level whose promised budget it reaches. None for fewer questions than
    LEAST.
    """
    if len(needed) < LEAST:
        return None
    hits = sum(need is not None and need <= budget for need in needed)
    costs = tuple((level, promise_budget(needed, level)) for level in LEVELS)
    return FrameCoverage(len(needed), hits / (len(needed) + 1), costs)


def review(needs: FrameNeeds) -> CoverageReview:
    """Return each promise beside what came of it: of every question, from the LEAST-th on, whether it is held within
    the budget that those before it promise. Leaving one out of all would not do: of n sorted figures the k-th holds k.
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


def promised(frame: Frame, known: Definitions, fitted: CalibrationFit) -> Frame:
    """Return a frame with what it promises by what calibrations have fitted, as far as it was asked as it is
    defined.
    """
    needs = _read(fitted.needs).get(frame.name) if frame.query.strip() else None
    if needs is None or needs.definition != version(frame.name, known):
        return frame
    return replace(frame, coverage=coverage_at(needs.needed, frame.budget))


def reviews(storage: Storage) -> tuple[CoverageReview, ...]:
    """Return what came of the promises of the calibration in use, by frame."""
    return tuple(review(frame_needs) for frame_needs in _read(storage.forecasts.needs()).values())


def version(name: str, known: Definitions) -> str:
    """Return what tells a frame's definition, with those below it, from another; whatever its budget is."""
    definition = registry.find(name, known)
    below = [child for child in registry.tree(definition, known) if child is not definition]
    return version_of([replace(definition, budget=1), *below])


def to_json(needs: Sequence[FrameNeeds]) -> str:
    """As `ForecastStorage.put_needs` keeps them."""
    return json.dumps({frame_needs.frame: [frame_needs.definition, frame_needs.needed] for frame_needs in needs})


def readable(text: str) -> bool:
    """Return whether a text is one that `to_json` wrote."""
    try:
        return all(
            isinstance(frame_needs.definition, str)
            and all(need is None or type(need) is int for need in frame_needs.needed)
            for frame_needs in _read(text).values()
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        return False


@lru_cache(maxsize=4)
def _read(text: str | None) -> Mapping[str, FrameNeeds]:
    data = {} if text is None else json.loads(text)
    return {name: FrameNeeds(name, definition, tuple(needed)) for name, (definition, needed) in data.items()}
