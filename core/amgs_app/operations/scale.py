"""What a memory needs that is large, or that several programs share: workers and their tasks (`workers list`, `workers
enqueue`), the search index outside the process (`index build`, `index status`), and who may use a namespace of a
database (`namespace show`, `namespace grant`, `namespace revoke`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs.errors import UsageError
from amgs_app.calls.marks import Arg, Option
from amgs_app.calls.operation import operation
from amgs_app.operations.arguments import Limit
from amgs_app.results.memory import TasksAsked

if TYPE_CHECKING:
    from amgs.memory import Memory
    from amgs.storage.access import NamespaceAccess
    from amgs.types import HealthLine, IndexBuild, IndexStatus, Progress
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


@operation(
    "index build",
    summary="Build or catch up the search index.",
    synonyms=("reindex", "elasticsearch"),
    example="index build",
    long=True,
    writes=True,
)
def build_index(
    engine: Engine,
    *,
    anew: Annotated[bool, Option("--anew", help="Write every block, not only what changed.")] = False,
    compact: Annotated[bool, Option("--compact", help="Join the small files of earlier builds.")] = False,
    progress: Progress | None = None,
) -> IndexBuild:
    """Bring the search index that --index names to the memory's present state.

    Only what changed since the last build is written, and readers see the version before until the new one is whole; a
    build that is killed leaves it. What came since the last build is found without building.
    """
    return engine.memory.index.build(anew=anew, compact=compact, progress=progress)


@operation("index status", summary="Show how far the search index is behind.", example="index status")
def index_status(engine: Engine) -> IndexStatus:
    """Show where the search index lies, at which state of the memory it was built, how many blocks changed since, and
    its size.
    """
    return engine.memory.index.status()


Role = Annotated[str, Arg(metavar="ROLE", help="A role of the PostgreSQL server, as it logs in.")]


@operation(
    "namespace show",
    place="here",
    summary="Show which roles may use the namespace, and what is not protected.",
    example="namespace show",
)
def show_namespace(engine: Engine) -> NamespaceAccess:
    """Show which roles use the namespace that --store names, whom else somebody granted something in it, tables whose
    rows no policy keeps, and the roles that no policy binds.
    """
    from amgs.storage.access import access_of

    return access_of(str(engine.store_path))


@operation(
    "namespace grant",
    place="here",
    summary="Let a role use the namespace, and hide its rows from all others.",
    example="namespace grant reader",
)
def grant(engine: Engine, role: Role) -> NamespaceAccess:
    """Let ROLE read and write the namespace that --store names.

    The first time, the namespace is given to a role of its own, row-level security is turned on for every table, and
    what was granted otherwise is revoked; whoever owned it stays let in. Asks for a connection that owns the namespace
    and may make roles (CREATEROLE).
    """
    from amgs.storage.access import grant as let_in

    return let_in(str(engine.store_path), role)


@operation(
    "namespace revoke",
    place="here",
    summary="Stop a role from using the namespace.",
    example="namespace revoke reader",
)
def revoke(engine: Engine, role: Role) -> NamespaceAccess:
    """Take back what `namespace grant` gave; connections that are open see no row from then on."""
    from amgs.storage.access import revoke as let_out

    return let_out(str(engine.store_path), role)
