"""What frames promise of their questions, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.types.calibration import CoverageReview, FrameCoverage


def coverage_told(given: FrameCoverage) -> str:
    """`holds what the question needs with ≥ 87 % (64 labelled questions); 90 % would cost 640 tokens, 95 % 1,900`."""
    told = f"holds what the question needs with ≥ {int(100 * given.share)} % ({given.questions:,} labelled questions)"
    higher = [(level, cost) for level, cost in given.costs if level > given.share and cost is not None]
    costs = [
        f"{100 * level:.0f} %{'' if place else ' would cost'} {cost:,}{'' if place else ' tokens'}"
        for place, (level, cost) in enumerate(higher)
    ]
    return f"{told}; {', '.join(costs)}" if costs else told


def coverage_reviewed(given: CoverageReview) -> str:
    """The promises of a frame, each with what came of it; or that there are too few questions for one."""
    asked = f"{given.frame}, {given.questions:,} labelled question{'' if given.questions == 1 else 's'}"
    if not given.levels:
        return f"{asked}: a promise of coverage needs {given.least}"
    promises = [
        f"{100 * one.level:.0f} % "
        + ("cannot be promised" if one.tokens is None else f"in {one.tokens:,} tokens")
        + (f" (so promised before, held {one.held:,} of {one.tried:,})" if one.tried else "")
        for one in given.levels
    ]
    return f"{asked}: what a question needs is held with {', '.join(promises)}"
