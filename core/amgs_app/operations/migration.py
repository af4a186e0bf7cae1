"""A whole memory moved from one kind of store into another: `migrate`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs.errors import UsageError
from amgs_app.calls.marks import Arg, Option
from amgs_app.calls.operation import operation
from amgs_app.places.paths import check_place

if TYPE_CHECKING:
    from amgs.exchange.migration import Migration
    from amgs.types import Progress
    from amgs_app.engine import Engine


@operation(
    "migrate",
    place="here",
    summary="Copy a whole memory into a file or a database, and check it row by row.",
    synonyms=("move", "copy"),
    example="migrate notes.duckdb postgresql://localhost/memory",
    long=True,
)
def migrate(
    engine: Engine,
    source: Annotated[
        str, Arg(metavar="SRC", help="The memory to copy: a file, or postgresql://…?namespace=NAME.")
    ],
    destination: Annotated[
        str, Arg(metavar="DST", help="A new file, or a new namespace: postgresql://…?namespace=NAME.")
    ],
    *,
    restart: Annotated[
        bool, Option("--restart", help="Start over in a DST where an earlier copy did not finish.")
    ] = False,
    progress: Progress | None = None,
) -> Migration:
    """Copy blocks, edges, journal, logs and counters exactly; SRC is only read, and stays.

    What was stopped or failed half way goes on where it stood when the same command is given again; until it is
    finished, no other command opens DST. In the end every table is read back and compared. Indexes, traces and ledgers
    beside a file are not copied: indexes are built anew.
    """
    from amgs.exchange.migration import migrate as copy
    from amgs.storage.opening import is_address

    for place in (source, destination):
        if is_address(place):
            continue
        check_place(Path(place), example="team.duckdb")
        if engine.memory_is_open and Path(place).resolve() == Path(engine.store_path).resolve():
            raise UsageError(
                f"{place} is open in this session.",
                way_out="Migrate it as a single command, while it is closed.",
            )
    return copy(source, destination, restart=restart, progress=progress)
