"""Layer 3: sentences to which the question pays little of a language model's attention are left out."""

from __future__ import annotations

from amgs.wings.packs.engine.task import PackTask


def prune_by_attention(task: PackTask) -> str:
    """Keep the half that the question attends to most: the threshold follows the scores of each question."""
    if task.attention is None:
        return "no language model that tells its attention is loaded: everything passes"
    if not task.sentences:
        return "nothing to prune"
    scores = task.attention(task.query, [sentence.text for sentence in task.sentences])
    before = len(scores)
    best = sorted(range(before), key=lambda place: (-scores[place], place))[: (before + 1) // 2]
    task.sentences = [task.sentences[place] for place in sorted(best)]
    return f"{len(best)} of {before} sentences have an attention of {scores[best[-1]]:.2g} or more"
