"""Result of `status`: state of an engine and its memory."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.types import Health, StoreStatus
    from amgs.types.health import NamespaceSize
    from amgs_focus.views import FocusView


@dataclass(frozen=True, slots=True)
class Overview:
    """`status`: the store, the state of each area, and what the session works with.

    corpus: "" if the memory has none. model_loaded: whether the language model is in memory. sample_time: `store.now`
    is in the year of the corpus, not the present. namespaces: of the database, those that the role may use; a service
    lists only its own. read_only: whether it was opened for reading only.
    """

    store: StoreStatus
    health: Health
    corpus: str
    model: str
    model_loaded: bool
    seed: int
    selection: str | None = None
    focus: FocusView | None = None
    sample_time: bool = False
    read_only: bool = False
    namespaces: tuple[NamespaceSize, ...] = ()


@dataclass(frozen=True, slots=True)
class EngineFacts:
    """The engine's part of Overview, besides the memory's; same fields. now: the engine's time; fixed: whether it
    stands still.
    """

    corpus: str
    model: str
    model_loaded: bool
    seed: int
    focus: FocusView | None
    sample_time: bool
    now: datetime
    fixed: bool
    read_only: bool = False
