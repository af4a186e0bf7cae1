"""How well a frozen model expects answers after a context that it read."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from amgs_focus.model.base_model import BaseModel


class ContextReader:
    """A context that a model reads once and is then asked about. Sinks stand before it, questions take the user's
    turn.
    """

    def __init__(self, model: BaseModel, context: str) -> None:
        """Reads it; together with a question it should not be longer than `model.card.positions` tokens."""
        self._model = model
        self._cache = model.new_cache()
        self._held: list[int] = []
        self.turn_to(context)

    def turn_to(self, context: str) -> None:
        """Read another context in its place, from where it differs from the one before."""
        tokens = [*self._model.sinks(), *self._model.encode(context)]
        pairs = zip(self._held, tokens, strict=False)
        shared = next((n for n, (a, b) in enumerate(pairs) if a != b), min(len(self._held), len(tokens)))
        self._cache.crop(shared)
        self._held = tokens[:shared]  # what is held if reading is stopped
        self._read(tokens[shared:])
        self._held = tokens

    def nll(self, question: str, answers: Sequence[str]) -> list[float]:
        """The mean NLL of each answer behind the question, in nats a token; none is empty. Nothing is kept of it."""
        before = self._cache.length
        first = self._read(self._model.encode(self._model.turn(question)))[-1:]
        asked = self._cache.length
        losses = []
        for answer in answers:
            said = self._model.encode(answer)
            states = torch.cat([first, self._read(said[:-1])])
            self._cache.crop(asked)
            logs = torch.log_softmax(self._model.logits(states).double(), dim=-1)
            targets = torch.tensor(said, dtype=torch.int64, device=logs.device)
            losses.append(-float(logs.gather(1, targets[:, None]).mean()))
        self._cache.crop(before)
        return losses

    @torch.no_grad()
    def _read(self, tokens: Sequence[int]) -> torch.Tensor:
        """(n, d): the states after each of n tokens, which join what was read."""
        rows = self._model.embed(torch.tensor(tokens, dtype=torch.int64))
        return self._model.forward(rows[None], self._cache)[0] if len(tokens) else rows
