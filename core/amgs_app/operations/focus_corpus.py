"""A folder of documents as the lifetime: `focus corpus`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs.errors import InputError, UsageError
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.operations.arguments import Lifetime
from amgs_app.operations.maintenance import DryRun
from amgs_app.results.lifetime import CorpusRead

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from amgs_focus.tree.corpus import Document

PASSED_OVER = frozenset({"node_modules", "__pycache__", "build", "dist", "venv"})
"""Folders that hold what was made from sources; those whose name begins with a dot are passed over too."""


@operation(
    "focus corpus",
    lane="model",
    needs="operate",
    summary="Open a folder of documents as the lifetime.",
    example="focus corpus ~/src/project",
    pane="focus",
    long=True,
    writes=True,
)
def corpus(
    engine: Engine,
    folder: Annotated[Path, Arg(metavar="DIR", help="A folder of prose and code."), Takes("folder")],
    *,
    lifetime: Lifetime = None,
    bridges: Annotated[
        bool, Option("--bridges/--no-bridges", help="Link definitions to the text that mentions them.")
    ] = True,
    dry_run: DryRun = False,
    question: Annotated[str, Option("--question", metavar="TEXT", help="The question for the model.")] = "",
    progress: Progress | None = None,
) -> CorpusRead:
    """Read a folder as a lifetime: by domain, README → design → prose → source → tests, split at headings and
    definitions, without near-duplicate sections, each section with its path, language, version and time.

    With --lifetime only new or changed documents are added, and older versions count as superseded.
    """
    from amgs_focus.tree.corpus import plan_corpus
    from amgs_focus.tree.journal import JOURNAL, SpanJournal

    documents, skipped = _documents(folder)
    known: dict[str, str] = {}
    going_on = lifetime is not None and (lifetime / JOURNAL).exists()
    if going_on and lifetime is not None:
        journal = SpanJournal(lifetime, "", engine.settings.focus.block_size)
        known = journal.read().span_metadata.versions()
    plan = plan_corpus(documents, name=folder.resolve().name, known=known, bridges=bridges)
    if dry_run:
        return CorpusRead(str(folder), plan, skipped, False, engine.focus_view)
    if not plan.sections and not going_on:
        raise UsageError(
            f"{folder} contains no text.", way_out="Give a folder with .md, .txt or source files."
        )
    runtime = engine.open_focus(plan.segments, question, progress, folder=lifetime)
    return CorpusRead(str(folder), plan, skipped, True, runtime.snapshot())


def _documents(folder: Path) -> tuple[list[Document], tuple[tuple[str, str], ...]]:
    """The texts in and below a folder, in the order of their paths, and what was passed over and why."""
    from amgs_focus.tree.corpus import LANGUAGES, Document

    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder.", way_out="Give one.")
    found, skipped = [], []
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder)
        if any(part.startswith(".") or part in PASSED_OVER for part in inside.parts):
            continue
        if file.suffix.lower() not in LANGUAGES or not file.is_file():
            continue
        try:
            text = file.read_bytes().decode("utf-8")
            changed = datetime.fromtimestamp(int(file.stat().st_mtime), UTC).isoformat()
        except UnicodeDecodeError as error:
            skipped.append((inside.as_posix(), f"it is not UTF-8 (byte {error.start})"))
        except OSError as error:
            skipped.append((inside.as_posix(), str(error.strerror)))
        else:
            found.append(Document(inside.as_posix(), text, changed))
    return found, tuple(skipped)
