"""The embedder that a store names as the one that made its embeddings."""

from __future__ import annotations

import re

from amgs.errors import ModelError
from amgs.extras import installed
from amgs.text.embedding import Embedder, HashingEmbedder
from amgs.text.minilm import DIMENSION, NAME, PREFIX, MiniLM, resolve

_HASHING = re.compile(r"hashing-(\d+)")


def named(name: str, dimension: int) -> Embedder:
    """The embedder of this name; raises ModelError where it is not installed, or is none that this package has."""
    if (match := _HASHING.fullmatch(name)) and int(match[1]) == dimension:
        return HashingEmbedder(dimension)
    given = name.removeprefix(PREFIX)
    if name != NAME and given == name:
        raise _unknown(name, dimension, "which this package does not have")
    if not installed("sentence_transformers"):
        raise _unknown(name, dimension, "which needs the package sentence-transformers")
    if name == NAME and dimension != DIMENSION:
        raise _unknown(name, dimension, f"which gives {DIMENSION} today")
    given = "" if name == NAME else given
    try:
        resolve(given)
    except ModelError as error:
        raise _unknown(name, dimension, "which is not there") from error
    return MiniLM(given)


def _unknown(name: str, dimension: int, why: str) -> ModelError:
    return ModelError(
        f"The store's embeddings come from {name} ({dimension} dimensions), {why}.",
        way_out="Install it (pip install 'amgs-workstation[models]'), or open the memory with its embedder: "
        "`amgs.open(path, embedder=…)`.",
    )
