"""The language model of the focus as one that writes texts: what `--strategy abstractive` asks without a server."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amgs.storable import make_storable

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel

LONGEST: Final = 6_000
"""Characters of a prompt that a small model reads within seconds: its end is cut."""


@dataclass(frozen=True)
class LocalModel:
    """See `amgs.text.text_model.TextModel`. load: gives the model, loaded on first use; raises what loading raises."""

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
