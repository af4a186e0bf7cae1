"""Consolidate served memories in the background when their settings say it is due (AMGS §8.2), and save new vectors to
disk.

Runs in the lane for long work, so that no request waits for it. The journal says that it was automatic, and a
consolidation that a person has undone is not repeated.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Final

from amgs.errors import Cancelled, StoreLockedError
from amgs.lifecycle.consolidate import KIND
from amgs.storage.signature import signed
from amgs.types import Progress
from amgs_app.results.memory import Consolidated, consolidated
from amgs_app.server.asking import Asked, Service
from amgs_app.server.tokens import Caller

if TYPE_CHECKING:
    from amgs.memory import Memory
    from amgs_app.server.hosting import Namespace

log = logging.getLogger("amgs.server")

LOOK_SECONDS: Final = 60.0
"""Seconds between two checks whether a consolidation is due."""
DRAFT_SECONDS: Final = 3600.0
"""After a draft, seconds without automatic consolidation, so that the operator can correct the draft first."""


async def consolidate_when_due(service: Service, every: float = LOOK_SECONDS) -> None:
    """Check every open memory, again and again until cancelled. every: seconds between two checks."""
    while True:
        await asyncio.sleep(every)
        for space in service.namespaces.opened():
            try:
                await _consolidate_if_due(service, space)
                await _save_vectors(space)
            except Exception:
                log.exception("%s could not be looked after", space.name)


async def _consolidate_if_due(service: Service, space: Namespace) -> None:
    """Consolidate one memory if it is open, due, and no draft is being corrected."""
    engine, drafted = space.engine, space.drafted_at
    if not (engine.memory_is_open and engine.settings.memory.consolidation.automatic_served):
        return
    if drafted is not None and service.perf() - drafted < DRAFT_SECONDS:
        return
    if not await space.run("read", partial(_is_due, space.memory)):
        return
    by, progress = f"the {service.kind}", Progress()
    asked = Asked(service, Caller(by, None, "operate"), space)
    work = partial(_consolidate, space.memory, by, progress)
    try:
        await asked.run(KIND, "long", work, "as it was due", changes=True, quiet=True)
    finally:
        progress.cancel()  # where the server ends meanwhile


async def _save_vectors(space: Namespace) -> None:
    """Save the derived vectors of one open memory to its cache on disk."""
    if not space.engine.memory_is_open:
        return
    progress = Progress()
    try:
        await space.run("long", partial(_save_derived, space.memory, progress))
    finally:
        progress.cancel()


def _save_derived(memory: Memory, progress: Progress) -> None:
    # On a full disk, and while an erasure takes the files away, nothing is kept: the vectors are in memory as well.
    with suppress(Cancelled, OSError, RuntimeError):
        memory.lifecycle.keep_derived(progress)


def _is_due(memory: Memory) -> bool:
    """Return whether consolidation is due and was not just undone by a person."""
    # In this order, so that an undo between the two checks is seen by the second.
    if not memory.lifecycle.due().due:
        return False
    latest = next(iter(memory.operations(1)), None)
    return latest is None or not (latest.undone and latest.kind == KIND)


def _consolidate(memory: Memory, by: str, progress: Progress) -> Consolidated | None:
    """Consolidate in batches, signed by the server; None if another server is consolidating or this one stops."""
    with signed(by=by):
        try:
            return consolidated(memory.consolidate_in_batches(progress=progress))
        except (Cancelled, StoreLockedError):  # another server is at it
            return None
