"""The whole memory as a file, and back: `export`, `import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import UsageError
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.api.exchange import Exported, Imported
    from amgs.types import Progress
    from amgs_app.engine import Engine


@operation("export", summary="Write the whole memory to a JSON or GraphML file.")
def export(
    engine: Engine,
    path: Annotated[
        Path | None,
        Arg(metavar="PATH", help="The file to write; memory.json or memory.graphml here unless given."),
        Takes("file", made=True),
    ] = None,
    *,
    format: Annotated[
        Literal["json", "graphml"], Option("--format", help="JSON, or GraphML for graph programs.")
    ] = "json",
) -> Exported:
    """Write every table, in full or not at all. `import` reads both formats back without loss.

    A PATH that is there is replaced, and the result says so; without a PATH no file is.
    """
    if path is None:
        path = Path(f"memory.{format}")
        if path.exists():
            raise UsageError(
                f"{path} is there already, in {path.absolute().parent}.",
                title="Nothing was exported",
                way_out=f"Give a path; to replace it: `export {path} --format {format}`.",
            )
    return engine.memory.exchange.export(path, format)


@operation(
    "import", summary="Import an exported memory into an empty store.", long=True, writes=True, creates=True
)
def load(
    engine: Engine,
    path: Annotated[Path, Arg(metavar="PATH", help="A file that `export` wrote."), Takes("file")],
    *,
    progress: Progress | None = None,
) -> Imported:
    """Read a JSON or GraphML export into this store, which must not hold any blocks yet.

    Every value is checked before the first row is written: either the whole file is imported, or nothing.
    """
    return engine.memory.exchange.load(path, progress)
