"""What the operator's corrections teach: words and tags of corrected blocks become evidence for a category.

The evidence is the journal itself (`block set ID --category X`), and the mark that a corrected plan leaves on its
blocks, so that an undone correction teaches nothing.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from amgs.lifecycle.annotate import KIND
from amgs.storage.store import Storage
from amgs.text.claims import terms
from amgs.types import Block, BlockFilter

PROPOSED = "proposed_category"
"""The key in a block's meta for what the plan had proposed, where the operator chose another category."""

_TAG, _WORD = 2.0, 1.0
_MOST = 4.0
"""Lessons weigh as much as a kind that the source states, never more."""

_LEAST_WORDS = 2
"""One shared word is no likeness: words count from two on, or beside a tag."""


@dataclass(frozen=True, slots=True)
class CategoryCorrection:
    """A block whose category the operator changed, and both categories."""

    block: Block
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Lesson:
    """Evidence that corrections give for (or, below 0, against) a category, and the features it rests on."""

    category: str
    weight: float
    because: str


@dataclass(frozen=True, slots=True)
class Lessons:
    """(feature, category) -> weight, learned from `count` corrections."""

    weights: Mapping[tuple[str, str], float] = field(default_factory=dict, hash=False)
    count: int = 0

    def of(self, content: str, meta: Mapping[str, Any]) -> tuple[Lesson, ...]:
        """What the corrections say of a text, one lesson a category at most."""
        if not self.weights:
            return ()
        own = features(content, meta)
        found = []
        for category in sorted({c for _, c in self.weights}):
            shared = [(f, self.weights[f, category]) for f in sorted(own) if (f, category) in self.weights]
            words = sum(f.startswith("word ") for f, _ in shared)
            if words < _LEAST_WORDS:
                shared = [(f, w) for f, w in shared if not f.startswith("word ") or words < len(shared)]
            total = max(-_MOST, min(_MOST, sum(w for _, w in shared)))
            if total:
                best = sorted(shared, key=lambda pair: (-abs(pair[1]), pair[0]))[:3]
                told = ", ".join(_told(f) for f, _ in best)
                found.append(Lesson(category, round(total, 4), f"your corrections ({told})"))
        return tuple(found)


NO_LESSONS = Lessons()


def features(content: str, meta: Mapping[str, Any]) -> frozenset[str]:
    """The tags, folder and words of a text that a lesson can be tied to."""
    tags = {f"tag {str(tag).lower()}" for tag in meta.get("tags") or ()}
    folders = {f"folder {f.lower()}" for f in str(meta.get("source", "")).split("/")[:-1][-1:]}
    return frozenset(tags | folders | {f"word {t}" for t in terms(content)})


def _told(feature: str) -> str:
    kind, _, name = feature.partition(" ")
    return f"“{name}”" if kind == "word" else feature


def learn(corrections: Sequence[CategoryCorrection], held: Mapping[str, int], blocks: int) -> Lessons:
    """Weights from corrections; held: how many of the `blocks` have each feature.

    A feature counts for the category that was chosen and half as much against the one that was wrong. It weighs
    the more the rarer it is and the oftener it was seen: n times gives n / (n + 1).
    """
    seen: Counter[tuple[str, str]] = Counter()
    for one in corrections:
        for feature in features(one.block.content, one.block.meta):
            seen[feature, one.after] += 2
            seen[feature, one.before] -= 1
    weights = {}
    for (feature, category), count in seen.items():
        rare = math.log((blocks + 1) / (held.get(feature, 0) + 1)) / math.log(blocks + 2)
        n = abs(count) / 2
        weight = (_WORD if feature.startswith("word ") else _TAG) * max(0.0, rare) * n / (n + 1.0)
        if weight > 0.05:
            weights[feature, category] = math.copysign(weight, count)
    return Lessons(weights, len(corrections))


def lessons(storage: Storage) -> Lessons:
    """What the corrections that stand in the journal teach; cheap where there are none."""
    changed = _corrected(storage)
    if not changed:
        return NO_LESSONS
    blocks = storage.blocks.get(changed)
    corrections = [CategoryCorrection(blocks[i], *changed[i]) for i in changed if i in blocks]
    every = storage.blocks.select(BlockFilter(), order="arrival")
    wanted = {f for c in corrections for f in features(c.block.content, c.block.meta)}
    held = Counter(f for b in every for f in features(b.content, b.meta) & wanted)
    return learn(corrections, held, len(every))


def _corrected(storage: Storage) -> dict[str, tuple[str, str]]:
    """(first, last) category by block, of the corrections that stand, in a plan first and then by edits; a category
    that was put back is no correction.
    """
    found: dict[str, tuple[str, str]] = {
        one: (proposed, chosen) for one, proposed, chosen in storage.blocks.marked(PROPOSED)
    }
    for row in storage.journal.rows_of_kind(KIND):
        if row.target == "block" and row.before and row.after:
            before, after = json.loads(row.before)["category"], json.loads(row.after)["category"]
            first = found[row.key][0] if row.key in found else before
            found[row.key] = (first, after)
    return {i: (a, b) for i, (a, b) in found.items() if a != b}
