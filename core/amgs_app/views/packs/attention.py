"""Measure the attention that the small language model pays from a question to sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, islice
from typing import TYPE_CHECKING

from amgs.errors import AmgsError

if TYPE_CHECKING:
    from amgs.wings.packs.engine.task import Attention
    from amgs_app.engine import Engine
    from amgs_focus.model.pretrained import PretrainedModel

_WINDOW = 768
"""Tokens of sentences that are read at once before the question."""


def attention_of(engine: Engine) -> Attention | None:
    """Return a function that measures attention by the session's language model; None if there is none or it does not
    report attention.
    """
    try:
        model = engine.load_model()
    except AmgsError:
        return None
    from amgs_focus.model.pretrained import PretrainedModel

    if not isinstance(model, PretrainedModel):
        return None
    return lambda question, sentences: attend(model, question, sentences)


def attend(model: PretrainedModel, question: str, sentences: Sequence[str]) -> list[float]:
    """Return the mean attention per token of each sentence from the question after it, relative to the mean of its
    window, since windows differ in length.
    """
    import torch

    asked, sinks = model.encode(f"\n{question}\n"), model.sinks()
    tokens = [model.encode(f"{sentence}\n")[:_WINDOW] for sentence in sentences]
    paid: list[float] = []
    while len(paid) < len(tokens):
        window: list[Sequence[int]] = []
        for sentence in tokens[len(paid) :]:
            if sum(map(len, window)) + len(sentence) > _WINDOW:
                break
            window.append(sentence)
        read = [*sinks, *chain.from_iterable(window), *asked]
        with torch.no_grad():
            scores = iter(model.attention(model.embed(torch.tensor(read))[None], len(asked)).tolist()[len(sinks) :])
        means = [sum(islice(scores, len(sentence))) / max(len(sentence), 1) for sentence in window]
        mean = sum(means) / len(means)
        paid += [score / mean if mean else 0.0 for score in means]
    return paid
