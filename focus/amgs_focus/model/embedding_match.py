"""Whether a model reads the embeddings that a checkpoint was trained on, whatever the model is called.

A folder, a hub id and a packaged file may hold one model under three names and in two precisions. Its embeddings say
which it is: the signs of 64 rows spread over the vocabulary agree in all but the few numbers that rounding turned over,
and two models that were trained apart agree in half of them.
"""

from __future__ import annotations

import base64
import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel

KNOWN = Path(__file__).parents[1] / "checkpoints" / "embeddings.json"
"""By the name that checkpoints give the model: vocabulary, width, and the packed signs in base64."""
ROWS = 64
LEAST_AGREEMENT = 0.9

Signs = NDArray[np.uint8]


def signs_of(model: BaseModel) -> Signs:
    """(ROWS * d / 8,) packed signs of rows spread evenly over the vocabulary."""
    import torch

    rows = torch.linspace(0, model.card.vocabulary - 1, ROWS).long()
    return np.packbits(model.embed(rows).detach().to("cpu", torch.float32).numpy() > 0)


def entry_of(model: BaseModel) -> dict[str, int | str]:
    """What KNOWN holds of a model."""
    signs = base64.b64encode(signs_of(model).tobytes()).decode()
    return {"vocabulary": model.card.vocabulary, "width": model.card.width, "signs": signs}


def reads(model: BaseModel, name: str, known: Path = KNOWN) -> bool:
    """Whether checkpoints for the model `name` are for this one: by its name, else by its embeddings."""
    card = model.card
    if card.name.casefold() == name.casefold():
        return True
    told = _known(known).get(name)
    if told is None or (told["vocabulary"], told["width"]) != (card.vocabulary, card.width):
        return False
    theirs = np.frombuffer(base64.b64decode(str(told["signs"])), np.uint8)
    differing = int(np.unpackbits(theirs ^ signs_of(model)).sum())
    return differing <= (1 - LEAST_AGREEMENT) * ROWS * card.width


@cache
def _known(path: Path) -> dict[str, dict[str, int | str]]:
    held: dict[str, dict[str, int | str]] = json.loads(path.read_text(encoding="utf-8"))
    return held
