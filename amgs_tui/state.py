"""State of the memory on the screen, taken from results, never computed here."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from amgs_tui.widgets.prompt import CompletionCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from amgs.types import Frame
    from amgs_app.results.overview import Overview
    from amgs_tui.messages import ModelsLoading


@dataclass(eq=False)
class ScreenState:
    """The store's name and clock, its overview, the last frame, the selection, and the blocks seen so far.

    clock: the memory's time; None until the session is open. consolidates: automatically when due. attached: the memory
    is served elsewhere. front: pane shown alone while there is no memory, else "". models: progress of preloading; None
    for none.
    """

    store_name: str = ""
    clock: Callable[[], datetime] | None = None
    overview: Overview | None = None
    last_frame: Frame | None = None
    selected: str | None = None
    recording: bool = False
    consolidates: bool = False
    attached: bool = False
    front: str = ""
    models: ModelsLoading | None = None
    cache: CompletionCache = field(default_factory=CompletionCache)

    def now(self) -> datetime:
        """Return the session's time; the latest known while it is being opened."""
        if self.clock is not None:
            return self.clock()
        return self.overview.store.now if self.overview is not None else datetime.fromtimestamp(0, UTC)

    @property
    def place(self) -> str:
        """Identity of the store on this machine: its path, or the service's address; "" for none."""
        if not self.persistent or self.overview is None:
            return ""
        return self.store_name if self.attached else self.overview.store.path

    @property
    def persistent(self) -> bool:
        """Return whether the store is on disk, and with it the trace of the working context."""
        return self.store_name != ":memory:"
