"""How evenly a memory is spread: entropy of its categories, of the decisions for them, of its clusters (AMGS §7.5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from amgs.api.context import MemoryContext
from amgs.graph import traversal
from amgs.graph.traversal import Parting
from amgs.lifecycle import category_feedback
from amgs.lifecycle.categories import MOST_BITS, categorise
from amgs.types import BlockFilter, Entropy, Progress
from amgs.types.entropy import entropy

_SAMPLE = 2000


@dataclass(frozen=True, slots=True)
class ClassificationEntropy:
    """Mean entropy of the decisions for a category, over `judged` blocks, evenly chosen in order of arrival.

    undecided: how many of them no tag, folder, phrase or correction decides.
    """

    mean: Entropy
    judged: int
    undecided: int


@dataclass(frozen=True, slots=True)
class ClusterEntropy:
    """Entropy of the sizes of the clusters; a block without edges is a cluster of its own.

    shuffled: the same of a graph with the same degrees whose edges end anywhere: what the method finds by chance.
    """

    sizes: Entropy
    clusters: int
    alone: int
    modularity: float
    shuffled: Entropy
    shuffled_clusters: int
    shuffled_modularity: float


@dataclass(frozen=True, slots=True)
class Diversity:
    """How evenly the consolidated blocks are spread. categories: with their number of blocks, the most first."""

    blocks: int
    spread: Entropy
    categories: tuple[tuple[str, int], ...]
    classification: ClassificationEntropy
    clusters: ClusterEntropy


def diversity(context: MemoryContext, progress: Progress | None = None) -> Diversity:
    """All of it as it is now; the decisions as the rules and the corrections would make them now."""
    categories = context.storage.blocks.by_category()
    classification = _classification(context, progress)
    if progress is not None:
        progress(1, 2, "clustering")
    with context.derived.reading() as state:
        view = state.graph.view()
        found, chance = traversal.louvain(view), traversal.louvain(view, shuffled=True)
    kept = sum(categories.values())
    clusters, by_chance = _sizes(found, kept), _sizes(chance, kept)
    return Diversity(
        kept,
        entropy(categories.values()),
        tuple(categories.items()),
        classification,
        ClusterEntropy(
            entropy(clusters),
            len(clusters),
            kept - sum(part.size for part in found.parts),
            found.modularity,
            entropy(by_chance),
            len(by_chance),
            chance.modularity,
        ),
    )


def _classification(context: MemoryContext, progress: Progress | None) -> ClassificationEntropy:
    numbers = context.storage.block_columns.numbers(BlockFilter())
    chosen = numbers[np.unique(np.linspace(0, numbers.size - 1, min(_SAMPLE, numbers.size)).astype(np.int64))]
    lessons = category_feedback.lessons(context.storage)
    bits = []
    for at, one in enumerate(context.storage.blocks.by_number(chosen.tolist())):
        if progress is not None and at % 100 == 0:
            progress(at, 2 * chosen.size, "judging categories")
        bits.append(categorise(one.block.content, one.block.meta, lessons).bits)
    undecided = sum(b >= MOST_BITS for b in bits)
    mean = sum(bits) / len(bits) if bits else 0.0
    return ClassificationEntropy(Entropy(mean, MOST_BITS if bits else 0.0), len(bits), undecided)


def _sizes(parting: Parting, blocks: int) -> list[int]:
    sizes = [part.size for part in parting.parts]
    return [*sizes, *[1] * (blocks - sum(sizes))]
