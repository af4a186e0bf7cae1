"""The focus engine's language model as a writer of texts, for `--strategy abstractive` without a server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amgs.storable import make_storable

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel

LONGEST: Final = 6_000
"""Characters of a prompt that a small model reads within seconds; the rest is cut off."""


@dataclass(frozen=True)
class LocalModel:
    """Implements `amgs.text.text_model.TextModel`. load: returns the model, loading it on first use."""

    load: Callable[[], BaseModel]
    name: str = "the local model"

    def write(self, prompt: str, most_tokens: int) -> str:
        """Return the model's reply to a prompt, decoded greedily."""
        model = self.load()
        import torch

        from amgs_focus.model.base_model import greedy

        tokens = [*model.sinks(), *model.encode(model.turn(prompt[:LONGEST]))]
        with torch.no_grad():
            rows = model.embed(torch.tensor(tokens, dtype=torch.int64))
        return make_storable(model.decode(list(greedy(model, rows, most_tokens))))
