"""A server consolidates the memories that it has open by itself, as soon as their settings say that it is due (AMGS
§8.2), and writes the vectors that came where a search finds them soonest.

Both run in the lane of what takes long, so that no question waits for them. The journal says that nobody asked for a
consolidation, and what a person has taken back is not done again.
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
"""How often it is asked whether a consolidation is due."""
DRAFT_SECONDS: Final = 3600.0
"""So long somebody who has drafted a consolidation may correct it before the inbox changes under the draft; a plan is
kept as long.
"""


async def consolidate_when_due(service: Service, every: float = LOOK_SECONDS) -> None:
    """Look after every open memory until it is cancelled. every: seconds between two looks."""
    while True:
        await asyncio.sleep(every)
        for space in service.namespaces.opened():
            try:
                await _look_after(service, space)
                await _keep_vectors(space)
            except Exception:
                log.exception("%s could not be looked after", space.name)


async def _look_after(service: Service, space: Namespace) -> None:
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


async def _keep_vectors(space: Namespace) -> None:
    if not space.engine.memory_is_open:
        return
    progress = Progress()
    try:
        await space.run("long", partial(_keep_derived, space.memory, progress))
    finally:
        progress.cancel()


def _keep_derived(memory: Memory, progress: Progress) -> None:
    # On a full disk, and while an erasure takes the files away, nothing is kept: the vectors are in memory as well.
    with suppress(Cancelled, OSError, RuntimeError):
        memory.lifecycle.keep_derived(progress)


def _is_due(memory: Memory) -> bool:
    """Return whether the settings say so, and it is not what somebody has just taken back."""
    # In this order: an undo between the two is one that the second has seen.
    if not memory.lifecycle.due().due:
        return False
    latest = next(iter(memory.operations(1)), None)
    return latest is None or not (latest.undone and latest.kind == KIND)


def _consolidate(memory: Memory, by: str, progress: Progress) -> Consolidated | None:
    with signed(by=by):
        try:
            return consolidated(memory.consolidate_in_batches(progress=progress))
        except (Cancelled, StoreLockedError):  # another server is at it
            return None
