"""Define what an embedder is (it turns texts into unit vectors), `HashingEmbedder`, which needs no model, and
the loading of a model on first use, which is told as a phase of its own.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from amgs.text.words import other_script
from amgs.types import Progress, Vector

_WORD = re.compile(r"\w+(?:[-'’]\w+)*")
# Words that say little; they keep a small weight, so that a text of nothing else still has a direction.
_COMMON = frozenset(
    _WORD.findall(
        "a an and are as at be been but by can did do does for from had has have he her him his how i if in "
        "into is it its me my no not of on or our out she so than that the their them then there they "
        "this to up was we were what when where which who why will with would you your"
    )
)


class Embedder(Protocol):
    """Turns texts into unit vectors. Vectors of two embedders with different names must never be compared."""

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        """Return (n, d) float32, each row of length 1."""
        ...


@runtime_checkable
class QuestionEmbedder(Protocol):
    """An embedder that embeds a question differently from the texts that may answer it."""

    def embed_question(self, text: str) -> Vector:
        """Return (d,) float32, of length 1."""
        ...


@runtime_checkable
class WeighedEmbedder(Protocol):
    """An embedder whose cosines, in standard deviations, count more or less in a search than MiniLM's."""

    @property
    def meaning_weight(self) -> float: ...


@runtime_checkable
class LatinEmbedder(Protocol):
    """An embedder that knows only Latin script; its vectors of other scripts are meaningless."""

    @property
    def latin_only(self) -> bool: ...


def embed_question(embedder: Embedder, text: str) -> Vector:
    """Return (d,) float32, of length 1: a question as this embedder reads questions."""
    if isinstance(embedder, QuestionEmbedder):
        return embedder.embed_question(text)
    vector: Vector = embedder.embed([text])[0]
    return vector


def knows_script(embedder: Embedder, text: str) -> bool:
    """Return whether an embedder knows the script of a text."""
    return not (isinstance(embedder, LatinEmbedder) and embedder.latin_only and other_script(text))


def meaning_weight(embedder: Embedder) -> float:
    """Return the weight of an embedder's cosines in a search, relative to MiniLM's."""
    return embedder.meaning_weight if isinstance(embedder, WeighedEmbedder) else 1.0


class HashingEmbedder:
    """Embedder that hashes words and their letter trigrams into d signed buckets; deterministic, without a model.

    Similar spelling gives similar vectors; it knows nothing of meaning.
    """

    def __init__(self, dimension: int = 256) -> None:
        self._dimension = dimension

    @property
    def name(self) -> str:
        return f"hashing-{self._dimension}"

    @property
    def dimension(self) -> int:
        return self._dimension

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        vectors = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for feature, weight in _features(text):
                # crc32 and not hash(): the same on every machine and in every process.
                code = zlib.crc32(feature.encode("utf-8", "surrogatepass"))
                vectors[row, code % self._dimension] += weight if code >> 31 else -weight
            if progress is not None and row % 64 == 63:
                progress(row + 1, len(texts), "embedding")
        return normalise_rows(vectors)


def normalise_rows(vectors: Vector) -> Vector:
    """Return rows at length 1: (n, d); a row of zeros becomes the first axis, so that every row has a direction."""
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    empty = lengths[:, 0] < 1e-12
    result = (vectors / np.where(lengths < 1e-12, 1.0, lengths)).astype(np.float32)
    if empty.any():
        result[empty] = 0.0
        result[empty, 0] = 1.0
    return result


def _features(text: str) -> Iterator[tuple[str, float]]:
    """Yield the words of a text and their letter trigrams, with weights; common words count a tenth."""
    for match in _WORD.finditer(text.lower()):
        word = match[0]
        weight = 0.1 if word in _COMMON else 1.0
        yield word, weight
        if weight == 1.0:
            framed = f"<{word[:40]}>"
            for i in range(len(framed) - 2):
                yield framed[i : i + 3], 0.5


@runtime_checkable
class LoadsLate(Protocol):
    """A model that takes seconds to be there."""

    @property
    def loaded(self) -> bool: ...

    def load(self) -> None:
        """Read it into memory; nothing when it is there already. Raises ModelError when there is none."""
        ...


def load(model: object, name: str, progress: Progress | None = None) -> None:
    """Have a model in memory before what it does is timed; a model that needs no loading is left alone."""
    if isinstance(model, LoadsLate) and not model.loaded:
        if progress is not None:
            progress(0, 0, f"loading {name}")
        model.load()
