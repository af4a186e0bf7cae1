"""Layer 3: if the sentences do not fit, those that get little of a language model's attention from the question are
left out.
"""

from __future__ import annotations

from amgs.wings.packs.engine.task import PackTask


def prune_by_attention(task: PackTask) -> str:
    """Keep the half that gets most attention, and more while the text has room."""
    if task.attention is None:
        return "no language model that tells its attention is loaded: everything passes"
    if task.fits():
        return "everything fits: nothing is left out"
    scores = task.attention(task.query, [sentence.text for sentence in task.sentences])
    before, best = len(scores), task.best_sentences(scores, 0.5)
    task.sentences = [task.sentences[place] for place in best]
    return f"{len(best)} of {before} sentences have an attention of {min(scores[n] for n in best):.2g} or more"
