"""Operations `export` and `import`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import UsageError
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.places.paths import choose_export_path

if TYPE_CHECKING:
    from amgs.api.exchange import Exported, ForeignImport, Imported
    from amgs.types import Progress
    from amgs_app.engine import Engine


Source = Literal["mem0", "chatgpt", "claude", "mcp", "messages"]
"""Programs whose files can be imported."""


@operation(
    "export",
    long=True,
    needs="operate",
    audience="workstation",
    summary="Write the whole memory to a JSON or GraphML file.",
    synonyms=("back up", "backup", "dump"),
    example="export memory.json",
)
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
    return engine.memory.exchange.export(path or choose_export_path(format), format)


@operation(
    "import",
    summary="Import an exported memory, sessions of agents, or what another program exported.",
    synonyms=("migrate from", "chat history", "transcript", "claude code", "codex"),
    example="import memory.json --dry-run",
    long=True,
    writes=True,
    creates=True,
    needs="operate",
)
def load(
    engine: Engine,
    paths: Annotated[
        list[Path],
        Arg(metavar="PATH", help="A file that `export` wrote; files of other programs, or folders of them."),
        Takes("file"),
    ],
    *,
    source: Annotated[
        Source | None,
        Option("--from", metavar="FORMAT", help="The program that wrote the files, if their content does not tell."),
    ] = None,
    dry_run: Annotated[
        bool, Option("--dry-run", help="Only show what other programs' files hold, and what it would become.")
    ] = False,
    conversations: Annotated[
        bool, Option("--conversations/--no-conversations", help="Keep conversations as conversations, too.")
    ] = True,
    progress: Progress | None = None,
) -> Imported | ForeignImport:
    """Read a JSON or GraphML export of a memory, or files of other programs; of a folder, all that are known.

    An export goes into an empty store. Every value is checked before the first row is written: either the whole file
    is imported, or nothing.

    Sessions of Claude Code, Codex and other agents, files of mem0, ChatGPT, Claude
    and transcripts in the style of OpenAI and Anthropic go into any store, as one ingest that `undo` takes back. They
    are recognised by what stands in them. What was not taken over is named.
    """
    exchange = engine.memory.exchange
    file = paths[0] if len(paths) == 1 and not paths[0].is_dir() else None
    if file is None or source is not None or not exchange.is_export(file):
        return exchange.load_foreign(paths, source, dry_run=dry_run, conversations=conversations, progress=progress)
    if dry_run:
        raise UsageError(
            "An exported memory cannot be tried out.",
            way_out="Import it into a new store: it is checked whole before anything is written.",
        )
    return exchange.load(file, progress)
