"""Models that are read into memory on first use: reading them is told as what it is, a phase of its own."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from amgs.types import Progress


@runtime_checkable
class LoadsLate(Protocol):
    """A model that takes seconds to be there."""

    @property
    def loaded(self) -> bool: ...

    def load(self) -> None:
        """Read it into memory; nothing when it is there already. Raises ModelError when there is none."""
        ...


def load(model: object, name: str, progress: Progress | None = None) -> None:
    """Have a model in memory before what it does is timed; one that needs no loading is left alone."""
    if isinstance(model, LoadsLate) and not model.loaded:
        if progress is not None:
            progress(0, 0, f"loading {name}")
        model.load()
