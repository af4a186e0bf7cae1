"""Adapt a frame's weights to its pool: the weight of a component that nothing in the pool can have is shared out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from amgs.retrieval.score import SEARCH_WEIGHTS
from amgs.types import COMPONENTS, FrameDefinition, Weights
from amgs.types.entropy import bits_of


@dataclass(frozen=True, slots=True)
class EffectiveWeights:
    """The weights that score, and a remark for the operator when they are not those of the definition."""

    weights: Weights
    remark: str = ""


def own_weights(definition: FrameDefinition, *, has_query: bool) -> Weights:
    """Return what decides the order in an atomic frame unless other weights are asked for: with a question those of the
    search, in a frame that keeps its order.
    """
    if has_query and definition.rule.gather == "query" and definition.rule.order == "search":
        return SEARCH_WEIGHTS
    return definition.weights


def effective(definition: FrameDefinition, asked: Weights | None, *, has_query: bool) -> EffectiveWeights:
    """Return the weights that are asked for, or the frame's own, of the parts that can be had, scaled to sum 1.

    Blocks that are all raw stand in no graph and were never reinforced; without a query nothing is similar to
    it. One rule for every frame, INBOX included.
    """
    weights = asked or own_weights(definition, has_query=has_query)
    missing = []
    if set(definition.rule.filter.statuses) == {"raw"}:
        missing += ["centrality", "reinforcement"]
    if not has_query:
        missing.append("similarity")
    lost = [name for name in COMPONENTS if name in missing and getattr(weights, name) > 0]
    components = {name: getattr(weights, name) for name in COMPONENTS if name not in missing}
    if not lost or sum(components.values()) <= 0:
        return EffectiveWeights(weights)
    return EffectiveWeights(Weights.normalised(**components), _remark(definition.name, weights, lost))


def _remark(name: str, weights: Weights, lost: Sequence[str]) -> str:
    """Return why some weights count for nothing, and where they went."""
    why = []
    if "similarity" in lost:
        why.append("is scored without the question")
    if set(lost) - {"similarity"}:
        why.append("holds unprocessed blocks, which have neither edges nor a history")
    named = " and ".join(f"{part} weight ({getattr(weights, part):.2f})" for part in lost)
    return f"{name} {' and '.join(why)}; its {named} {'was' if len(lost) == 1 else 'were'} spread over the other parts"


def entropy_bits(categories: Iterable[str]) -> float:
    """Shannon entropy of the categories, -Σ p log₂ p, in bits; 0 for none or one (AMGS §7.5)."""
    return bits_of(Counter(categories).values())
