"""Layer 5: what is central to the question stays, and sentences that say the same are told once."""

from __future__ import annotations

from collections import defaultdict
from math import ceil

import numpy as np

from amgs.wings.packs.engine.task import PackTask

_OVERLAP, _HISTORY = 0.6, 0.4
_FOCUS = 0.4
"""Of all sentences so many are central."""
_SAME = 0.8
"""Cosine from which two sentences say the same."""


def compress_to_focus(task: PackTask) -> str:
    """Keep the two fifths of the sentences that overlap most with the question, by meaning and by what readings with
    this member came to; then, of sentences that say the same, the one that is nearest to what they have in common.
    """
    sentences = task.sentences
    if not sentences:
        return "nothing to compress"
    vectors = task.embedder.embed([task.query, *(sentence.text for sentence in sentences)])
    overlap = vectors[1:] @ vectors[0]
    outcomes: dict[str, list[float]] = defaultdict(list)
    for use in task.uses:
        for block in use.blocks:
            if use.outcome is not None:
                outcomes[block].append(use.outcome)
    history = np.array([np.mean(outcomes.get(sentence.block.id, [0.5])) for sentence in sentences])
    scores = _OVERLAP * overlap + _HISTORY * history
    central = sorted(np.argsort(-scores, kind="stable")[: ceil(_FOCUS * len(sentences))].tolist())
    similar = vectors[1:][central] @ vectors[1:][central].T
    picks: list[int] = []
    left = list(range(len(central)))
    while left:
        group = [place for place in left if similar[left[0], place] >= _SAME or place == left[0]]
        picks.append(group[int(np.argmax(similar[np.ix_(group, group)].sum(axis=0)))])
        left = [place for place in left if place not in group]
    task.sentences = [sentences[central[place]] for place in sorted(picks)]
    same = len(central) - len(picks)
    return f"{len(central)} of {len(sentences)} sentences are central, {same} of them say what another says"
