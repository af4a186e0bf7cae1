"""The workers of a memory and their tasks: `workers list`, `workers enqueue`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs.errors import UsageError
from amgs_app.calls.marks import Arg, Option
from amgs_app.calls.operation import operation
from amgs_app.operations.arguments import Limit
from amgs_app.results.memory import TasksAsked

if TYPE_CHECKING:
    from amgs.memory import Memory
    from amgs.types import HealthLine
    from amgs.types.tasks import WorkerList
    from amgs_app.engine import Engine


def health_of_workers(memory: Memory) -> tuple[HealthLine, ...]:
    """How the workers fare, in one line; nothing where there are none and nothing was ever asked of them."""
    from amgs.text.plural import plural
    from amgs.types import HealthLine

    found = memory.tasks.list(0)
    waiting, failed = (
        sum(count for name, count in found.counts.items() if name.endswith(state))
        for state in (" waiting", " failed")
    )
    if not found.workers and not found.counts:
        return ()
    told = [plural(len(found.workers), "worker") if found.workers else "no worker"]
    told += [f"{plural(waiting, 'task')} waiting"] if waiting else []
    told += [f"{failed:,} failed"] if failed else []
    idle = waiting and not found.workers
    verb = "workers enqueue --failed" if failed else "workers list"
    return (HealthLine("workers", "watch" if failed or idle else "well", ", ".join(told), verb),)


@operation("workers list", summary="List the workers and their tasks.", example="workers list")
def list_tasks(engine: Engine, *, limit: Limit = 50) -> WorkerList:
    """List the workers that are there, and the tasks: what waits, what runs until when, what failed and why, and what
    was done last. `amgs workers run` runs a worker.
    """
    return engine.memory.tasks.list(limit)


@operation(
    "workers enqueue",
    summary="Queue tasks for whatever is out of date, or those that failed.",
    synonyms=("retry",),
    example="workers enqueue",
    writes=True,
)
def enqueue(
    engine: Engine,
    kinds: Annotated[
        list[str] | None,
        Arg(
            metavar="KIND",
            help="embedding, consolidation, centrality, index; all of them if none is named.",
        ),
    ] = None,
    *,
    failed: Annotated[
        bool, Option("--failed", help="Queue the tasks that failed again, with all their attempts.")
    ] = False,
) -> TasksAsked:
    """Make a task of what is behind: raw blocks without a vector, an inbox that waits, a search index or a centrality
    that is stale. What is asked for already is not asked for twice. A worker does this by itself.
    """
    if failed:
        if kinds:
            raise UsageError("--failed queues every task that failed.", way_out="Leave KIND out.")
        return TasksAsked(engine.memory.tasks.retry())
    from amgs.api.tasks import known_kinds

    return TasksAsked(engine.memory.tasks.enqueue(known_kinds(kinds or ())))
