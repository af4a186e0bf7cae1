"""Sentences used by several tables and figures: whether the memory holds an answer, coverage of frames, and warnings
about the focus.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from amgs.text.plural import plural

if TYPE_CHECKING:
    from amgs.types import LayerReport
    from amgs.types.calibration import CoverageReview, FrameCoverage
    from amgs_focus.views import FocusView


_MOST_WORDS = 4


class AnswerFindings(Protocol):
    """What a search found out about an answer; see `SearchResult`."""

    @property
    def answerable(self) -> float | None: ...
    @property
    def unestimated(self) -> str: ...
    @property
    def unheld(self) -> tuple[str, ...]: ...


def describe_answer(result: AnswerFindings) -> list[str]:
    """Return sentences on the words of the query that no block holds, and on how likely the memory holds an answer."""
    sentences = []
    if result.unheld:
        named = ", ".join(f"“{word}”" for word in result.unheld[:_MOST_WORDS])
        more = len(result.unheld) - _MOST_WORDS
        sentences.append(f"no block holds {named}" + (f" or {plural(more, 'other word')} of it" if more > 0 else ""))
    if result.answerable is not None:
        from amgs.retrieval.answerable import describe_chance

        sentences += [
            f"{estimate} in memory (estimated)" for estimate in (describe_chance(result.answerable),) if estimate
        ]
    return sentences


UNTRAINED = "no trained gists exist for this model"
WARNING = (
    "No trained gists exist for this model: spans are held by pointer gists, which lose nearly everything but their "
    "last token. Search and the map work without them; put trained ones into [paths] checkpoints."
)


def nothing_alike(view: FocusView) -> str:
    """Return the warning that no block resembles the question of a working context."""
    alike = "shares a word with" if view.question_likelihood is None else "resembles"
    return f"No block {alike} the question: what is read word for word was not chosen by what it asks."


def unheld(view: FocusView) -> str:
    """Return the warning that pinned spans do not fit the window, with what to do."""
    nodes = ", ".join(str(node) for node in view.unheld)
    return f"No room for what is pinned: {nodes}. Widen the window (focus set window N), or release a pin."


def describe_coverage(coverage: FrameCoverage) -> str:
    """Return a frame's promise: `holds what the question needs with ≥ 87 % (64 labelled questions); 90 % would cost 640
    tokens`.
    """
    promise = f"holds what the question needs with ≥ {int(100 * coverage.share)} %"
    sentence = f"{promise} ({coverage.questions:,} labelled questions)"
    higher = [(level, cost) for level, cost in coverage.costs if level > coverage.share and cost is not None]
    costs = [
        f"{100 * level:.0f} %{'' if place else ' would cost'} {cost:,}{'' if place else ' tokens'}"
        for place, (level, cost) in enumerate(higher)
    ]
    return f"{sentence}; {', '.join(costs)}" if costs else sentence


def describe_coverage_review(review: CoverageReview) -> str:
    """Return a frame's promises and how often they held; or that it has too few labelled questions."""
    asked = f"{review.frame}, {review.questions:,} labelled question{'' if review.questions == 1 else 's'}"
    if not review.levels:
        return f"{asked}: a promise of coverage needs {review.least}"
    promises = [
        f"{100 * promise.level:.0f} % "
        + ("cannot be promised" if promise.tokens is None else f"in {promise.tokens:,} tokens")
        + (f" (so promised before, held {promise.held:,} of {promise.tried:,})" if promise.tried else "")
        for promise in review.levels
    ]
    return f"{asked}: what a question needs is held with {', '.join(promises)}"


def describe_layers(layers: tuple[LayerReport, ...]) -> str:
    """Return the candidates and time of each search layer, on one line."""
    parts = [
        f"{layer.layer} skipped ({layer.skipped})"
        if layer.skipped
        else f"{layer.layer} {layer.candidates_in}→{layer.candidates_out} {layer.milliseconds:.1f} ms"
        for layer in layers
    ]
    return " │ ".join(parts)
