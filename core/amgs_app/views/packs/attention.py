"""Measure the attention of the small language model from a question to sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from amgs.errors import AmgsError

if TYPE_CHECKING:
    from amgs.wings.packs.engine.task import Attention
    from amgs_app.engine import Engine
    from amgs_focus.model.pretrained import PretrainedModel

_WINDOW = 768
"""Tokens of sentences that are read before the question at once."""


def attention_of(engine: Engine) -> Attention | None:
    """Return what the language model of a session pays; None where none is there, or one that does not tell."""
    try:
        model = engine.load_model()
    except AmgsError:
        return None
    from amgs_focus.model.pretrained import PretrainedModel

    if not isinstance(model, PretrainedModel):
        return None
    return lambda question, sentences: attend(model, question, sentences)


def attend(model: PretrainedModel, question: str, sentences: Sequence[str]) -> list[float]:
    """Return the mean attention to a token of each sentence from those of the question, which follows them, by the mean
    of its window: windows of other lengths share it among more or fewer tokens.
    """
    import torch

    asked = model.encode(f"\n{question}\n")
    tokens = [model.encode(f"{sentence}\n")[:_WINDOW] for sentence in sentences]
    paid: list[float] = []
    while len(paid) < len(tokens):
        size, end = 0, len(paid)
        while end < len(tokens) and size + len(tokens[end]) <= _WINDOW:
            size, end = size + len(tokens[end]), end + 1
        window = tokens[len(paid) : end]
        read = [*model.sinks(), *(token for sentence in window for token in sentence), *asked]
        with torch.no_grad():
            scores = model.attention(model.embed(torch.tensor(read))[None], len(asked)).tolist()
        at, means = len(model.sinks()), []
        for sentence in window:
            means.append(sum(scores[at : at + len(sentence)]) / max(len(sentence), 1))
            at += len(sentence)
        mean = sum(means) / len(means)
        paid += [score / mean if mean else 0.0 for score in means]
    return paid
