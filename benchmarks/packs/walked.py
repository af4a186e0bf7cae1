"""Questions of dialogues with what a search and the walk of each family say of every turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.memory import Memory
from amgs.packs.walks import FamilyWalks, seeds
from amgs.retrieval.similarity import contributions
from amgs.retrieval.sources import Sources
from amgs.retrieval.waterfall import RetrievalRequest, gather
from amgs.types import BlockFilter
from amgs.types.pack_families import FAMILIES, INTENTS, QuestionIntent
from benchmarks.listwise import LabelledRows, fit_ranking
from benchmarks.locomo_data import ADVERSARIAL, CATEGORIES, Conversation, read_folder
from benchmarks.rig import MemoryRig
from benchmarks.stores import block_ids, conversation_store

DEPTH = 10
Weights = NDArray[np.float64]
"""(1 + families,): of the search's linear score, and of each family's walk by the best block it reaches."""


@dataclass(frozen=True, eq=False)
class WalkedQuestion:
    """values: (m, 1 + families) for all m turns. wanted: one row (m,) for each turn that answers."""

    conversation: str
    intent: QuestionIntent
    text: str
    values: NDArray[np.float64]
    wanted: NDArray[np.bool_]

    def recall(self, weights: Weights) -> float:
        """The share of what answers among the best ten."""
        best = np.argsort(-(self.values @ weights), kind="stable")[:DEPTH]
        return float(self.wanted[:, best].any(axis=1).mean())


def dialogues(data: Path, corpus: str) -> tuple[Conversation, ...]:
    """The conversations of `locomo` or `realtalk` below a folder; none where it is not there."""
    return read_folder(data / corpus) if (data / corpus).is_dir() else ()


def asked(conversation: Conversation) -> Iterator[tuple[str, QuestionIntent, tuple[str, ...]]]:
    """Its questions with their intents and the sources of what answers, without the adversarial ones."""
    for one in conversation.questions:
        if one.category != ADVERSARIAL:
            name = CATEGORIES[one.category]
            yield one.text, next(intent for intent in INTENTS if intent == name), one.evidence


def walk(conversation: Conversation, rig: MemoryRig) -> tuple[list[WalkedQuestion], dict[str, int]]:
    """Each question of a conversation, and how many relations there are by name."""
    with conversation_store(conversation, rig.embedder) as memory:
        opened = memory._opened
        with opened.derived.searching() as sources:
            view = sources.graph.view()
            walks = FamilyWalks(view)
            found = [
                _walked(conversation.name, intent, text, evidence, memory, sources, walks)
                for text, intent, evidence in asked(conversation)
            ]
        return found, view.by_relation()


def _walked(
    name: str,
    intent: QuestionIntent,
    text: str,
    evidence: Sequence[str],
    memory: Memory,
    sources: Sources,
    walks: FamilyWalks,
) -> WalkedQuestion:
    nodes = sources.graph.view().nodes
    request = RetrievalRequest(text, BlockFilter(), present=tuple(nodes.tolist()), most=0)
    found = gather(request, sources)
    assert found.evidence is not None
    numbers, linear = found.evidence.numbers, contributions(found.evidence).sum(axis=1)
    reached = walks.reached(seeds(numbers, linear))
    at = np.searchsorted(nodes, numbers)
    each = [reached[family][at] for family in FAMILIES]
    values = np.stack([linear, *(one / max(float(one.max()), 1e-12) for one in each)], axis=1)
    ids = [str(one) for one in found.scored.facts.ids]
    wanted = np.array([[one in item for one in ids] for item in block_ids(memory, evidence)])
    return WalkedQuestion(name, intent, text, values, wanted)


def fit(questions: Sequence[WalkedQuestion]) -> Weights:
    """The weights under which what answers is likeliest; no family speaks against a block."""
    rows = [LabelledRows(one.values, np.asarray(one.wanted.any(axis=0))) for one in questions]
    return fit_ranking(rows, ridge=1e-2, rising=range(1 + len(FAMILIES)))
