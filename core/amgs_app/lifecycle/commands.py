"""The life of a memory: `ingest`, `inbox list`, `consolidate`, `operations`, `undo`, `verify`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

from amgs.errors import UsageError
from amgs.incoming import lies_there
from amgs_app import results
from amgs_app.calls.marks import Arg, DryRun, Limit, MostBlocks, Offset, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.panes.row_filter import ListFilter, visible_rows
from amgs_app.places.paths import SentText

if TYPE_CHECKING:
    from amgs.lifecycle.plan_editing import PlanDraft
    from amgs.lifecycle.revision import Revision, RevisionPlan
    from amgs.lifecycle.upkeep import Due
    from amgs.types import (
        ConsolidationPlan,
        IngestReport,
        JournalEntry,
        JournalEntryDetail,
        Progress,
        UndoPlan,
        Verification,
    )
    from amgs_app.engine import Engine
    from amgs_app.session import Operator


@operation(
    "ingest",
    audience="workstation",
    summary="Add a text, a file or a folder to the inbox.",
    synonyms=("remember", "add", "memorise"),
    example='ingest "The boiler valve was replaced in March." --tag house',
    pane="inbox",
    long=True,
    writes=True,
    creates=True,
)
def ingest(
    engine: Engine,
    text: Annotated[
        str | None,
        Arg(metavar="TEXT", help="The text of a new block, the path of a folder or a file, or - for what is piped in."),
        Takes("file"),
    ] = None,
    *,
    file: Annotated[
        Path | None,
        Option("--file", metavar="FILE", help="A file: notes, a page, a PDF, an Office file, a chat, code."),
        Takes("file"),
    ] = None,
    batch: Annotated[
        Path | None,
        Option("--batch", metavar="DIR", help="A folder: every file in and below it that can be read."),
        Takes("folder"),
    ] = None,
    sync: Annotated[
        bool,
        Option(
            "--sync",
            help="Bring a known file or folder up to date: changed texts are superseded, missing ones archived.",
        ),
    ] = False,
    sample: Annotated[
        bool, Option("--sample", help="The notes that come with the program: a year at an observatory.")
    ] = False,
    speaker: Annotated[str, Option("--speaker", metavar="NAME", help="Who said or wrote it.")] = "",
    date: Annotated[
        datetime | None, Option("--date", metavar="DATE", help="Its date, whatever the file says: 2026-03-01.")
    ] = None,
    tag: Annotated[list[str] | None, Option("--tag", metavar="TAG", help="A tag; may be repeated.")] = None,
    meta: Annotated[
        list[str] | None, Option("--meta", metavar="KEY=VALUE", help="Other metadata; may be repeated.")
    ] = None,
    source: Annotated[
        str, Option("--source", metavar="NAME", help="The source of TEXT; a file's source is its path.")
    ] = "",
    replaces: Annotated[
        list[str] | None,
        Option(
            "--replaces", metavar="ID|TEXT", help="What TEXT corrects, by its id or by what it said; may be repeated."
        ),
    ] = None,
    progress: Progress | None = None,
) -> IngestReport | RevisionPlan | Revision:
    """Add raw blocks to the inbox: they are hashed, dated and stored; `consolidate` does the rest.

    TEXT may be the path of an existing file or folder; `-` is a text from standard input. Without TEXT, the folder
    named by --corpus is ingested. A block that the memory already holds is not added again; `undo` reverts the whole
    ingest.

    Where a file or folder was taken in before and says something else now, the revision is shown and nothing is
    changed; --sync carries it out, in a single step that `undo` reverts.

    --speaker, --date, --tag and --meta are said of everything that is taken in now. What --replaces names no longer
    holds from then on; it stays readable as of before.
    """
    metadata = collect_metadata(speaker, tag or (), meta or ())
    if sum(option is not None for option in (text, file, batch, sample or None)) > 1:
        raise UsageError("TEXT, --file, --batch and --sample exclude each other.", way_out="Give only one.")
    if text is not None:
        piped = text == "-"
        if piped:
            text = engine.read_piped_text()
        path = None if piped else _path_of(text)
        if path is None and sync:
            raise UsageError(f"There is no file or folder {text}.", way_out="`--sync` brings a folder up to date.")
        if path is None:
            content = f"{speaker}: {text}" if speaker else text
            extra = metadata | ({"source": source} if source else {})
            return engine.memory.ingest_text(content, created_at=date, meta=extra, replaces=replaces or ())
        file, batch = (None, path) if path.is_dir() else (path, None)
    if replaces:
        raise UsageError("--replaces says what a TEXT corrects.", way_out="Bring a file up to date with `--sync`.")
    if source:
        raise UsageError("--source names the source of a TEXT.", way_out="A file's source is its path: leave it out.")
    if file is not None or batch is not None:
        if not metadata and date is None:
            return _ingest_path(engine, file, batch, sync, progress)
        return _ingest_with_metadata(engine, file, batch, date, metadata, progress)
    if metadata or date is not None:
        raise UsageError("There is nothing to say it of.", way_out="Give a text, `--file FILE` or `--batch FOLDER`.")
    _check_corpus(engine, sample)
    memory = engine.memory
    engine.enter_corpus()
    return memory.ingest_folder(engine.corpus.path, progress)


def _check_corpus(engine: Engine, sample: bool) -> None:
    """Raise UsageError unless there is a folder to ingest without arguments: the corpus, or the sample
    with --sample.
    """
    if not sample:
        if not engine.belongs_to_corpus:
            raise UsageError(
                "There is nothing to ingest.",
                way_out='Give it: `ingest "a note"`, `ingest FILE`, `ingest FOLDER`, `ingest -` for piped text.',
            )
        return
    if not engine.corpus.is_sample:
        raise UsageError("--sample and --corpus name two folders.", way_out="Leave either out.")
    if engine.is_own:
        raise UsageError(
            "The sample does not go into your own memory.",
            way_out="Give it a store: `amgs --store sample.duckdb ingest --sample`.",
        )


def _ingest_with_metadata(
    engine: Engine,
    file: Path | None,
    batch: Path | None,
    date: datetime | None,
    metadata: dict[str, Any],
    progress: Progress | None,
) -> IngestReport:
    """Ingest a file or folder with this date and metadata. Raises UsageError if it was ingested before."""
    path = file or batch
    if path is not None and engine.memory.sources.knows(path):
        raise UsageError(
            f"{path} is known already; --speaker, --date, --tag and --meta are said when something is taken in first.",
            way_out="Change single blocks by `block set`, or take the file in without them.",
        )
    if file is not None:
        return engine.memory.ingest_file(file, created_at=date, meta=metadata)
    return engine.memory.ingest_folder(Path() if batch is None else batch, progress, created_at=date, meta=metadata)


def collect_metadata(speaker: str, tags: Sequence[str], pairs: Sequence[str]) -> dict[str, Any]:
    """Return the metadata that the options give. Raises UsageError for a malformed pair or a reserved key."""
    from amgs.ingest.metadata import of_the_engine
    from amgs.lifecycle.annotate import check_tag

    metadata: dict[str, Any] = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        key = key.strip().lower()
        if not equals or not key or not value.strip():
            raise UsageError(f"--meta takes KEY=VALUE, not {pair!r}.", way_out="For example --meta project=boat.")
        if of_the_engine(key) or key in ("tags", "speaker"):
            raise UsageError(f"The key {key} has a meaning of its own.", way_out="Give another key, or its own option.")
        metadata[key] = value.strip()
    if speaker.strip():
        metadata["speaker"] = speaker.strip()
    if tags:
        metadata["tags"] = list(dict.fromkeys(map(check_tag, tags)))
    return metadata


def _ingest_path(
    engine: Engine, file: Path | None, batch: Path | None, sync: bool, progress: Progress | None
) -> IngestReport | RevisionPlan | Revision:
    """Ingest a file or folder. If it was ingested before and its texts changed, return the revision plan, or apply it
    with `sync`.
    """
    library = engine.memory.sources
    path = file or batch
    if path is not None and library.knows(path):
        plan = library.plan_file(path) if batch is None else library.plan_folder(batch, progress)
        if sync:
            return library.apply(plan)
        if not plan.only_adds:
            return plan
    if file is not None:
        return engine.memory.ingest_file(file)
    return engine.memory.ingest_folder(Path() if batch is None else batch, progress)


_IS_PATH: Final = re.compile(
    r"(?:/|~/|\.{1,2}/)\S+|[^\s:]+\.(?:md|markdown|txt|rst|html?|pdf|docx|pptx|xlsx|epub|eml|msg|jsonl|ndjson)"
    r"|[^\s:]+/[^\s:/]+\.[A-Za-z]\w{0,7}"
)
"""A word that can only be meant as a path, not as the text of a note."""


def _path_of(text: str) -> Path | None:
    """Return the existing file or folder that a text names, None if it is a note. Raises UsageError for a path that
    does not exist.
    """
    word = text.strip()
    if "\n" in word or not ("/" in word or len(word.split()) == 1 or word.endswith(".md")):
        return None
    path = Path(word)
    if not isinstance(text, SentText) and lies_there(path):
        return path.expanduser()
    if _IS_PATH.fullmatch(word):
        raise UsageError(
            f"There is no file or folder {path}.", way_out="Check the path. A text is taken in with a space in it."
        )
    return None


@operation(
    "inbox list",
    summary="List blocks waiting to be consolidated, or say whether it is time.",
    example="inbox list --limit 20",
    pane="inbox",
    lists=lambda result: [block.id for block in result.blocks] if hasattr(result, "blocks") else None,
)
def inbox(
    engine: Engine,
    *,
    limit: Limit = 200,
    offset: Offset = 0,
    only: Annotated[
        list[str] | None,
        Option("--only", metavar="TERM", help="word, source:notes, words>100 or !word; if repeated, all must match."),
    ] = None,
    by: Annotated[
        str, Option("--by", metavar="FIELD", help="Sort by title, source, words or days; default: newest first.")
    ] = "",
    reverse: Annotated[bool, Option("--reverse", help="Reverse the order.")] = False,
    due: Annotated[
        bool, Option("--due", help="List nothing: say whether it should be consolidated now, and why.")
    ] = False,
) -> results.Inbox | Due:
    """List raw blocks, newest first, or filtered by --only and sorted by --by.

    With --due, hold the size of the inbox and the time since the last consolidation against the limits in the settings.
    """
    if due:
        return engine.memory.lifecycle.due()
    from amgs.types import BlockFilter

    raw = BlockFilter(statuses=("raw",))
    waiting = engine.memory.count(raw)
    now = engine.clock.now()
    sift = ListFilter(tuple(only or ()), by, reverse)
    if sift:
        from amgs_app.lifecycle.rows import INBOX

        every = engine.memory.blocks(raw)
        places = visible_rows("inbox", INBOX.of("", every, now=now).fields, sift)
        blocks, total = tuple(every[place] for place in places[offset : offset + limit]), len(places)
    else:
        blocks, total = engine.memory.blocks(raw, limit=limit, offset=offset), waiting
    return results.Inbox(blocks, total, now, offset, engine.memory.earliest(raw), waiting)


@operation(
    "consolidate",
    summary="Turn the inbox into linked, embedded, decaying memory.",
    synonyms=("process", "embed", "embeddings"),
    example="consolidate --dry-run",
    pane="inbox",
    long=True,
    writes=True,
    audience="everyone",
)
def consolidate(
    operator: Operator,
    *,
    draft: Annotated[
        bool,
        Option("--draft", help="Apply the draft of `consolidate plan` with its corrections, in a single transaction."),
    ] = False,
    dry_run: DryRun = False,
    limit: MostBlocks = None,
    if_due: Annotated[
        bool, Option("--if-due", help="Only when the inbox is full or old enough; see `inbox list --due`.")
    ] = False,
    progress: Progress | None = None,
) -> ConsolidationPlan | results.Consolidated | results.Untouched:
    """Plan categories, embeddings, entities and edges for the inbox, and apply the plan.

    --dry-run shows the plan and changes nothing; `consolidate plan` drafts a plan that can be corrected first. A large
    inbox is processed in batches, each in a single transaction: stopping keeps the finished batches, and a single
    `undo` reverts all of them. An empty inbox changes nothing. A draft is refused when any of its blocks is no longer
    raw; blocks that it leaves out stay in the inbox.
    """
    engine = operator.engine
    if draft:
        applied = require_draft(operator)
        if dry_run:
            return applied.plan
        if not applied.plan.items:
            raise UsageError(
                "The draft holds no block.",
                title="Nothing to apply",
                way_out="`consolidate edit ID --take yes` takes a block back into it; `consolidate plan` drafts anew.",
            )
        done = engine.memory.lifecycle.apply_draft(applied)
        operator.draft = None
        return results.Consolidated(applied.plan, (done,), Counter(item.category for item in applied.plan.items))
    if if_due:
        due = engine.memory.lifecycle.due()
        if not due.due:
            return results.Untouched(due)
    if dry_run:
        return engine.memory.plan_consolidation(limit=limit, progress=progress)
    batches = results.sum_batches(engine.memory.consolidate_in_batches(limit=limit, progress=progress))
    return batches or results.Untouched(engine.memory.lifecycle.due())


def require_draft(operator: Operator) -> PlanDraft:
    """Return the session's draft; raises UsageError if there is none."""
    if operator.draft is None:
        raise UsageError(
            "No consolidation is drafted.",
            way_out="`consolidate plan` creates a draft. Drafts live in a script, the shell or the workstation.",
        )
    return operator.draft


@operation(
    "operations",
    summary="List the journal of changes, newest first, or show what a change did.",
    synonyms=("history", "log", "journal"),
    example="operations --limit 5",
    pane="overview",
    lists=lambda result: [block.id for block in result.blocks] if hasattr(result, "blocks") else None,
)
def operations(
    engine: Engine,
    operation: Annotated[
        int | None, Arg(metavar="ID", help="The number of an operation; default: list them."), Takes("operation")
    ] = None,
    *,
    limit: Annotated[
        int | None,
        Option("--limit", metavar="N", min=1, help="The latest 20 operations; the first 200 blocks of a change."),
    ] = None,
) -> results.OperationList | JournalEntryDetail:
    """List the changes made to the memory, newest first: ingests, consolidations, edits, verdicts and the rest.

    A change can be undone unless a later operation changed the same blocks. With ID, show what that operation did to
    each of its blocks, how many edges it changed, and which later operations must be undone before it.
    """
    if operation is not None:
        return engine.memory.lifecycle.operation(operation, limit or 200)
    return results.OperationList(engine.memory.operations(limit or 20))


_Operation = Annotated[
    int | None, Arg(metavar="ID", help="The number of the operation; default: the latest."), Takes("operation")
]


@operation(
    "undo",
    summary="Undo a change in the journal.",
    synonyms=("revert", "roll back", "go back"),
    example="undo --dry-run",
    pane="overview",
    writes=True,
    asks=True,
)
def undo(
    engine: Engine,
    operation: _Operation = None,
    *,
    dry_run: Annotated[bool, Option("--dry-run", help="Show what would be undone and change nothing.")] = False,
    yes: Annotated[bool, Option("--yes", help="Do not ask first.")] = False,
) -> JournalEntry | UndoPlan:
    """Undo an operation, by default the latest not yet undone: blocks, edges and verdicts return to what they were.

    In the workstation and at a terminal it shows what it will undo and asks first; --yes skips the question, and
    scripts are never asked.
    """
    del yes  # for whoever asks; see amgs_app/shell/output.py
    plan = engine.memory.lifecycle.plan_undo(operation)
    return plan if dry_run else engine.memory.undo(plan.operation.id)


@operation(
    "verify",
    summary="Check the whole store and list every fault.",
    synonyms=("integrity", "fsck", "corrupt"),
    example="verify",
    long=True,
)
def verify(
    engine: Engine,
    *,
    accept_loss: Annotated[
        bool,
        Option("--accept-loss", help="Open a store that has lost its last changes, and continue with what is left."),
    ] = False,
    progress: Progress | None = None,
) -> Verification:
    """Hash every block again, and check edges, indexes and the journal; exit code 4 when there is a fault."""
    engine.accept_loss = accept_loss
    return engine.memory.verify(progress)
