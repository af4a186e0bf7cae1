"""Which model a file was made with, told by the model's embeddings, whatever the model is called.

A folder, a hub id and a packaged file may hold one model under three names and in two precisions. Its embeddings say
which it is: the signs of values spread over the matrix agree in all but the few that rounding turned over, and two
models that were trained apart agree in half of them. A model and what was fine-tuned from it count as one.
"""

from __future__ import annotations

import base64
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel

KNOWN = Path(__file__).parents[1] / "checkpoints" / "embeddings.json"
"""Fingerprints by the names of models, for files that were written before they held one."""
ROWS, COLUMNS = 64, 64
LEAST_AGREEMENT = 0.9


@dataclass(frozen=True, slots=True)
class EmbeddingFingerprint:
    """vocabulary and width: rows and columns of the embedding matrix. signs: of at most 64 × 64 values spread evenly
    over it, packed, in base64 (684 letters).
    """

    vocabulary: int
    width: int
    signs: str

    def __post_init__(self) -> None:
        base64.b64decode(self.signs, validate=True)  # raises ValueError

    @classmethod
    def of(cls, model: BaseModel) -> Self:
        """A model's own."""
        import torch

        card = model.card
        rows = torch.linspace(0, card.vocabulary - 1, ROWS).long()
        columns = torch.linspace(0, card.width - 1, min(COLUMNS, card.width)).long()
        values = model.embed(rows).detach().to("cpu", torch.float32)[:, columns]
        packed = np.packbits(values.numpy() > 0)
        return cls(card.vocabulary, card.width, base64.b64encode(packed.tobytes()).decode())

    @classmethod
    def parse(cls, text: str) -> Self:
        """What `text` wrote. Raises ValueError, TypeError or KeyError for anything else."""
        told = json.loads(text)
        return cls(int(told["vocabulary"]), int(told["width"]), str(told["signs"]))

    def text(self) -> str:
        return json.dumps(asdict(self))

    def agrees(self, other: EmbeddingFingerprint) -> bool:
        """Whether both are of one embedding matrix, as far as rounding lets them be told apart."""
        if (self.vocabulary, self.width) != (other.vocabulary, other.width):
            return False
        ours, theirs = (np.frombuffer(base64.b64decode(one.signs), np.uint8) for one in (self, other))
        if ours.shape != theirs.shape:
            return False
        return int(np.bitwise_count(ours ^ theirs).sum()) <= (1 - LEAST_AGREEMENT) * 8 * len(ours)


def is_same_model(
    model: BaseModel, name: str, told: EmbeddingFingerprint | None, known: Path = KNOWN
) -> bool:
    """Whether a file that was made with the model `name`, whose fingerprint it tells, is for this one.

    Only where neither the file nor `known` has a fingerprint for the name do the names themselves decide, without the
    owner's.
    """
    told = told or _known(known).get(_bare(name))
    if told is not None:
        return told.agrees(EmbeddingFingerprint.of(model))
    return bool(name) and _bare(name) == _bare(model.card.name)


def _bare(name: str) -> str:
    """A model's name without its owner's, in small letters."""
    return name.rpartition("/")[2].casefold()


@cache
def _known(path: Path) -> dict[str, EmbeddingFingerprint]:
    held = json.loads(path.read_text(encoding="utf-8"))
    return {_bare(name): EmbeddingFingerprint(**told) for name, told in held.items()}
