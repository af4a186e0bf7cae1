"""A sentence encoder in sentence-transformers: for many texts at once, after an import that costs seconds."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from amgs.text.bert import number_format
from amgs.text.torch_library import IMPORTING, open_ahead
from amgs.types import Vector


class LibraryEncoder:
    """The model in a folder. precision: `auto`, `float32` or `bfloat16`. Raises ImportError, OSError or ValueError
    where it cannot be read.
    """

    def __init__(self, folder: str, precision: str) -> None:
        with IMPORTING:
            open_ahead()
            torch = importlib.import_module("torch")
            library = importlib.import_module("sentence_transformers")
            # A bar that a library draws would land in the screen's own picture.
            importlib.import_module("transformers.utils.logging").disable_progress_bar()
        self._model: Any = library.SentenceTransformer(
            folder,
            device="cpu",
            local_files_only=True,
            model_kwargs={"dtype": getattr(torch, number_format(precision))},
        )

    @property
    def dimension(self) -> int:
        return int(self._model.get_embedding_dimension())

    def encode(self, texts: Sequence[str]) -> Vector:
        """Return (n, d) float32, not scaled to unit length; all texts as one batch."""
        encoded = self._model.encode(
            list(texts), batch_size=len(texts), convert_to_tensor=True, show_progress_bar=False
        )
        return np.asarray(encoded.float().cpu().numpy(), dtype=np.float32)
