"""Choose the weights that score a frame; the weight of a part that no candidate can have goes to the other parts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from amgs.retrieval.score import SEARCH_WEIGHTS
from amgs.types import COMPONENTS, FrameDefinition, Weights
from amgs.types.entropy import bits_of


@dataclass(frozen=True, slots=True)
class EffectiveWeights:
    """Weights that score a frame. remark: what differs from the definition, for the operator; "" where nothing does."""

    weights: Weights
    remark: str = ""


def own_weights(definition: FrameDefinition, *, has_query: bool) -> Weights:
    """Return an atomic frame's weights when the request names none: those of a search where the frame's rule keeps the
    order of the search and there is a question, else the definition's.
    """
    if has_query and definition.rule.gather == "query" and definition.rule.order == "search":
        return SEARCH_WEIGHTS
    return definition.weights


def effective_weights(definition: FrameDefinition, asked: Weights | None, *, has_query: bool) -> EffectiveWeights:
    """Return the requested weights, or the frame's own, without the parts that no candidate can have, scaled to sum 1.

    A frame of raw blocks has no centrality and no reinforcement; without a query there is no similarity.
    """
    weights = asked or own_weights(definition, has_query=has_query)
    missing = []
    if set(definition.rule.filter.statuses) == {"raw"}:
        missing += ["centrality", "reinforcement"]
    if not has_query:
        missing.append("similarity")
    dropped = [name for name in COMPONENTS if name in missing and getattr(weights, name) > 0]
    components = {name: getattr(weights, name) for name in COMPONENTS if name not in missing}
    if not dropped or sum(components.values()) <= 0:
        return EffectiveWeights(weights)
    return EffectiveWeights(Weights.normalised(**components), _remark(definition.name, weights, dropped))


def _remark(name: str, weights: Weights, lost: Sequence[str]) -> str:
    """Return a sentence that says which weights do not apply, and why."""
    why = []
    if "similarity" in lost:
        why.append("is scored without the question")
    if set(lost) - {"similarity"}:
        why.append("holds unprocessed blocks, which have neither edges nor a history")
    named = " and ".join(f"{part} weight ({getattr(weights, part):.2f})" for part in lost)
    return f"{name} {' and '.join(why)}; its {named} {'was' if len(lost) == 1 else 'were'} spread over the other parts"


def entropy_bits(categories: Iterable[str]) -> float:
    """Return the Shannon entropy of the categories, -Σ p log₂ p, in bits; 0 for none or one (AMGS §7.5)."""
    return bits_of(Counter(categories).values())
