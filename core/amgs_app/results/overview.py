"""Status of an engine and of its memory: the result of `status`, and the part that the engine itself knows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.types import Health, StoreStatus
    from amgs.types.topology import NamespaceSize
    from amgs_focus.views import FocusView


@dataclass(frozen=True, slots=True)
class Overview:
    """`status`: the store, how each area of it stands, and what the session works with.

    corpus: "" for a memory that none belongs to. model_loaded: whether the language model is in memory. sample_time:
    whether `store.now` is in the year of the corpus, not in the real one. namespaces: of the database, those that the
    role may use; a service names none but the one that is asked. read_only: whether it is open for reading alone.
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
    """Facts about an engine besides its memory's status; the fields are those of Overview.

    now: the engine's time; fixed: whether it stands still.
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
