"""Layer 5: if the sentences do not fit, the most relevant stay, and of equivalent ones only the best."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from amgs.wings.packs.engine.task import PackTask

_OVERLAP, _HISTORY, _FOCUS, _SAME = 0.6, 0.4, 0.4, 0.8
"""Weights of similarity and history; share of sentences that stay; cosine from which two are equivalent."""


def compress_to_focus(task: PackTask) -> str:
    """Keep the two fifths of the sentences that are most similar to the question and had the best outcomes, and more
    while the text has room; of equivalent sentences, only the best.
    """
    if task.fits():
        return "everything fits: nothing is left out"
    sentences = task.sentences
    vectors = task.embedder.embed([task.query, *(sentence.text for sentence in sentences)])
    outcomes: dict[str, list[float]] = defaultdict(list)
    for use in task.uses:
        for block in use.blocks if use.outcome is not None else ():
            outcomes[block].append(use.outcome or 0.0)
    history = np.array([np.mean(outcomes[sentence.block.id] or [0.5]) for sentence in sentences])
    scores = _OVERLAP * (vectors[1:] @ vectors[0]) + _HISTORY * history
    central = task.best_sentences(scores.tolist(), _FOCUS)
    picks: list[int] = []
    for place in sorted(central, key=lambda place: (-scores[place], place)):
        if all(float(vectors[1 + place] @ vectors[1 + other]) < _SAME for other in picks):
            picks.append(place)
    task.sentences = [sentences[place] for place in sorted(picks)]
    same = len(central) - len(picks)
    return f"{len(central)} of {len(sentences)} sentences are central, {same} of them say what another says"
