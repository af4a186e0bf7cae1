"""State of the memory on the screen: learned from results, never computed here."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from amgs_tui.widgets.completion_cache import CompletionCache

if TYPE_CHECKING:
    from collections.abc import Callable

    from amgs.types import Frame
    from amgs_app.results.overview import Overview
    from amgs_tui.messages import ModelsLoading


@dataclass(eq=False)
class ScreenState:
    """The store's name and clock, its overview, the last frame, the selection, and the blocks seen so far.

    clock: gives the memory's time; None until the session is open. consolidates: by itself, as soon as it is due.
    attached: the memory is served elsewhere. front: the pane that stands alone while there is no memory; "" once there
    is one. models: how far those are that are loaded ahead; None where none are.
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
        """Return the session's time; the latest one known while the session is being opened."""
        if self.clock is not None:
            return self.clock()
        return self.overview.store.now if self.overview is not None else datetime.fromtimestamp(0, UTC)

    @property
    def place(self) -> str:
        """Identity of the store on this machine: its path, or the place that serves it; empty for none."""
        if not self.persistent or self.overview is None:
            return ""
        return self.store_name if self.attached else self.overview.store.path

    @property
    def persistent(self) -> bool:
        """Return whether the store lies on disk, and with it the trace of the working context."""
        return self.store_name != ":memory:"
