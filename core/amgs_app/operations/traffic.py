"""What others do with a served memory: `traffic`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs_app.calls.operation import operation
from amgs_app.operations.arguments import Limit
from amgs_app.results.memory import TrafficList

if TYPE_CHECKING:
    from amgs_app.engine import Engine


@operation(
    "traffic",
    summary="Show who asked a served memory what, and what they got.",
    synonyms=("requests", "audit"),
    example="traffic --limit 20",
    keys=("T",),
    lists=lambda found: [each.blocks[0] for each in found.events if each.blocks],
)
def traffic(engine: Engine, *, limit: Limit = 50) -> TrafficList:
    """List the latest questions to a served memory and its latest changes, newest first: who asked what, what they got,
    and how long it took.

    The server keeps the last 500 since it began. `amgs serve` serves a memory; `amgs --connect URL` opens the
    workstation on it.
    """
    served = engine.traffic
    return TrafficList(() if served is None else served()[:limit], served is not None)
