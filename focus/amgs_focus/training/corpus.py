"""The texts of a run as token ids, and windows drawn from them."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from amgs_focus.errors import TextError


@dataclass(frozen=True, slots=True)
class Part:
    """One text of the corpus: how often windows come from it, what is trained on and what is kept apart.

    digest: SHA-256 of its files, empty where they are not known.
    """

    name: str
    weight: float
    train: torch.Tensor
    validation: torch.Tensor
    digest: str = ""


@dataclass(frozen=True, slots=True)
class TrainingCorpus:
    """The texts of a run, as token ids."""

    parts: tuple[Part, ...]

    def window(self, length: int, generator: torch.Generator) -> torch.Tensor:
        """(length,) ids from a random place of a text drawn by weight."""
        return self.windows(1, length, generator)[0]

    def windows(self, count: int, length: int, generator: torch.Generator) -> torch.Tensor:
        """(count, length) ids from random places of one text drawn by weight."""
        weights = torch.tensor([part.weight for part in self.parts])
        part = self.parts[int(torch.multinomial(weights, 1, generator=generator))]
        room = len(part.train) - length
        if room < 0:
            raise TextError(
                f"{part.name} has {len(part.train)} tokens and a window needs {length}.",
                way_out="Leave it out, or give a longer text.",
            )
        starts = torch.randint(room + 1, (count,), generator=generator).tolist()
        return torch.stack([part.train[start : start + length] for start in starts])
