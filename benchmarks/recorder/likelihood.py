"""How likely a language model is to go on from one text to another."""

from __future__ import annotations

from typing import cast

import torch

from amgs_focus.model.base_model import BaseModel, KVCache, Layers, RotaryModel


def log_likelihood(model: BaseModel, rows: torch.Tensor, targets: torch.Tensor, cache: KVCache | None = None) -> float:
    """log p of targets (n,) int64 after entries (W, d) that follow what a cache holds, in nats."""
    with torch.no_grad():
        entries = torch.cat([rows, model.embed(targets[:-1]).to(rows)])
        logits = model.logits(model.forward(entries[None], cache)[0, -len(targets) :])
    return -float(torch.nn.functional.cross_entropy(logits.double(), targets.to(logits.device), reduction="sum"))


class SentenceLikelihood:
    """log p of a sentence, in nats, as what a model says after different texts. What a text has in common with the
    first one is read once.
    """

    def __init__(self, model: BaseModel, sentence: str) -> None:
        self._model = model
        self._said = torch.tensor(model.encode(sentence), dtype=torch.int64)
        self._first: list[int] = []
        self._layers: Layers = []

    def after(self, text: str) -> float:
        """text: up to where the sentence begins, without what opens the context."""
        model = self._model
        tokens = [*model.sinks(), *model.encode(text)]
        shared = 0
        while shared < min(len(tokens) - 1, len(self._first)) and tokens[shared] == self._first[shared]:
            shared += 1
        cache: KVCache | None = None
        if model.rotates:
            rotary = cast(RotaryModel, model)
            held = [(keys[:, :, :shared], values[:, :, :shared]) for keys, values in self._layers]
            cache = rotary.cache_of(held) if held else model.new_cache()
        else:
            shared = 0
        rows = model.embed(torch.tensor(tokens[shared:], dtype=torch.int64))
        found = log_likelihood(model, rows, self._said, cache)
        if cache is not None and not self._first:
            self._first, self._layers = tokens, cast(RotaryModel, model).layers_of(cache)
        return found
