"""The models of one engine: each is loaded once, on first use, and shared by memory and focus."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from amgs_app.places.folders import checkpoint_folder, model_cache

if TYPE_CHECKING:
    from amgs.text.embedding import Embedder
    from amgs.text.entities import EntityRecogniser
    from amgs.text.tokens import CountTokens
    from amgs.types import Progress
    from amgs_app.settings import WorkstationSettings
    from amgs_focus.gist.gistnet import GistEncoder
    from amgs_focus.model.base_model import BaseModel
    from amgs_focus.protocols import TextEncoder


class LoadedModels:
    """What reads texts and what runs on them.

    settings: gives the settings, which are not read before a model is asked for. spec: another base model than theirs.
    """

    def __init__(self, settings: Callable[[], WorkstationSettings], spec: str | None) -> None:
        self._settings = settings
        self._given = spec
        self._lock = threading.RLock()
        self._texts: tuple[Embedder, EntityRecogniser, CountTokens] | None = None
        self._base: BaseModel | None = None

    @property
    def spec(self) -> str:
        """The base model: an id, a path, or "tiny"."""
        return self._given or self._settings().model.base

    @property
    def checkpoints(self) -> Path:
        """The folder of the user's own checkpoints, which need not be there."""
        return checkpoint_folder(self._settings().paths)

    @property
    def base_is_loaded(self) -> bool:
        return self._base is not None

    @property
    def are_shipped(self) -> bool:
        """Whether texts are read by the models that come with the program, and these are installed."""
        from amgs.text import minilm, spacy_entities
        from amgs_app.models.choice import TINY

        told = self._settings().model
        others = self.spec == TINY or told.embedder or told.recogniser
        return not others and minilm.available() and spacy_entities.available()

    def base(self, progress: Progress | None = None) -> BaseModel:
        """The base model, loaded on first use; raises FocusError (ModelMissingError) when it is nowhere."""
        with self._lock:
            if self._base is None:
                from amgs_app.models.choice import load_base_model

                if progress is not None:
                    progress(0, 1, f"loading {self.spec}")
                settings = self._settings()
                told, cache = settings.model, model_cache(settings.paths)
                self._base = load_base_model(
                    self.spec, told.precision, cache, device=told.device, adapter=told.adapter
                )
                if progress is not None:
                    progress(1, 1, f"loaded {self._base.card.name}")
            return self._base

    def gist(self, progress: Progress | None = None) -> GistEncoder:
        """The gist encoder that the settings choose for the base model."""
        from amgs_app.models.choice import gist_encoder

        return gist_encoder(self.base(progress), self._settings().model, self.checkpoints)

    def texts(self) -> tuple[Embedder, EntityRecogniser, CountTokens]:
        """What reads texts; each loads what it needs on first use."""
        from amgs_app.models.choice import installed_texts

        if self._texts is None:
            self._texts = installed_texts(self.spec, self._settings().model, lambda: self._base)
        return self._texts

    def text_encoder(self) -> TextEncoder | None:
        """By what the focus searches for the meaning of a question; None where nothing is installed for it."""
        from amgs_app.models.choice import text_encoder

        return text_encoder(self.spec, self.texts()[0])
