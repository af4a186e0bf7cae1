"""The working context: `focus open`, `step`, `back`, `why`, `view`, and the operator's influence on it: `steer`,
`measure`, `set`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.clock import changed_at
from amgs.errors import Cancelled, UsageError
from amgs.incoming import real_path
from amgs_app import results
from amgs_app.calls.marks import Arg, DryRun, Lifetime, Limit, Offset, Option, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from amgs_focus.dependence import AnswerDependence
    from amgs_focus.records import NodeRef
    from amgs_focus.runtime.runtime import FocusRuntime
    from amgs_focus.tree.check import LifetimeCheck
    from amgs_focus.tree.corpus import Document
    from amgs_focus.views import EntryExplanation, FocusView


PASSED_OVER = frozenset({"node_modules", "__pycache__", "build", "dist", "venv"})
"""Folders that are skipped because they hold generated files; those beginning with a dot are skipped too."""

Count = Annotated[int, Arg(metavar="N", min=1, help="How many tokens."), Takes("number")]


@operation(
    "focus open",
    lane="model",
    needs="operate",
    summary="Open files, a folder, or all consolidated blocks, as the lifetime context.",
    synonyms=("load", "context window", "corpus", "check"),
    example='focus open chapter.txt --question "who wrote the letter?"',
    pane="focus",
    long=True,
    writes=True,
)
def open_context(
    engine: Engine,
    files: Annotated[
        list[Path] | None,
        Arg(metavar="FILE", help="Text files, or a folder; default: the consolidated blocks."),
        Takes("file"),
    ] = None,
    *,
    question: Annotated[str, Option("--question", metavar="TEXT", help="The question for the model.")] = "",
    lifetime: Lifetime = None,
    bridges: Annotated[
        bool, Option("--bridges/--no-bridges", help="In a folder, link definitions to what mentions them.")
    ] = True,
    dry_run: DryRun = False,
    check: Annotated[bool, Option("--check", help="Only check the files of the --lifetime folder.")] = False,
    mend: Annotated[
        bool, Option("--mend", help="Check them, and truncate damaged files to their last complete block.")
    ] = False,
    progress: Progress | None = None,
) -> results.Opened | results.CorpusRead | LifetimeCheck:
    """Open text files, or every consolidated block by age, as the lifetime context.

    --lifetime keeps it in a folder, created if needed: files are appended to what the folder holds, and without files
    it is opened as it is. `frame open` opens the last frame instead. --check looks at the header, length and model of
    every file of a closed folder and at its journal, without a model; exit code 4 when there is a fault. Gists that are
    missing after --mend are encoded again when the lifetime is opened.

    A folder is read by domain, README → design → prose → source → tests, split at headings and definitions, without
    near-duplicate sections, each section with its path, language, version and time. With --lifetime only new or changed
    documents are added, and older versions count as superseded.
    """
    from amgs.incoming import is_folder

    if check or mend:
        from amgs_focus.tree.check import check as check_files

        if lifetime is None or files:
            raise UsageError("Only a lifetime's folder can be checked.", way_out="Name it alone: --lifetime DIR.")
        return check_files(lifetime, mend=mend, progress=progress)
    if files and len(files) == 1 and is_folder(files[0]):
        return _open_folder(engine, files[0], lifetime, question, progress, bridges=bridges, dry_run=dry_run)
    if dry_run:
        raise UsageError("Only a folder can be previewed.", way_out="Name a folder, or leave out --dry-run.")
    from amgs_app.models.choice import segments_of_blocks, segments_of_files

    if lifetime is not None and not files and (lifetime / "spans.jsonl").exists():
        runtime = engine.open_focus((), question, progress, folder=lifetime)
        return results.Opened(str(lifetime), question, 0, runtime.snapshot())
    if files:
        segments = segments_of_files(files)
        source = ", ".join(file.name for file in files)
    else:
        from amgs.types import BlockFilter

        segments = segments_of_blocks(reversed(engine.memory.blocks(BlockFilter())))
        source = "all consolidated blocks"
    if not segments:
        raise UsageError("There is nothing to open.", way_out="`consolidate` the inbox first, or name files.")
    runtime = engine.open_focus(segments, question, progress, folder=lifetime)
    return results.Opened(source, question, len(segments), runtime.snapshot())


@operation(
    "focus step",
    lane="model",
    needs="operate",
    summary="Decode tokens, refocusing when due.",
    synonyms=("generate", "decode", "refocus"),
    example="focus step 20",
    pane="focus",
    long=True,
    writes=True,
    keys=("full_stop", "greater_than_sign"),
)
def step(
    engine: Engine,
    count: Annotated[
        int | None, Arg(metavar="N", min=1, help="How many tokens; default: 1, with --refocus none."), Takes("number")
    ] = None,
    *,
    refocus: Annotated[bool, Option("--refocus", help="Refocus now, without waiting for the cadence.")] = False,
    progress: Progress | None = None,
) -> results.Stepped:
    """Decode N tokens. Every `cadence` tokens the working context is refocused first: passages are opened or closed.

    Stops early when the answer ends.
    """
    runtime = engine.focus
    forced = runtime.refocus() if refocus else None
    tokens = count or (0 if refocus else 1)
    records = runtime.decode(tokens, progress)
    return results.Stepped(records, runtime.snapshot(), forced)


@operation(
    "focus back",
    lane="model",
    needs="operate",
    summary="Undo decoded tokens exactly.",
    example="focus back 5",
    pane="focus",
    long=True,
    writes=True,
    keys=("comma",),
)
def back(engine: Engine, count: Count = 1) -> results.RunPosition:
    """Go back N tokens: lifetime, working context and scores are exactly what they were. `focus step` repeats them."""
    return results.RunPosition("back", count, engine.focus.back(count))


@operation(
    "focus why",
    lane="model",
    background="answer",
    needs="operate",
    summary="Explain a passage: its score, the decision and the reason; or which block the answer depends on.",
    synonyms=("explain", "dependence", "attribution"),
    example="focus why 3",
    pane="focus",
    long=True,
    keys=("enter",),
)
def why(
    engine: Engine,
    entry: Node = "",
    *,
    answer: Annotated[
        bool, Option("--answer", help="Which opened block each word of the answer depends on, instead.")
    ] = False,
    progress: Progress | None = None,
) -> EntryExplanation | AnswerDependence:
    """Explain a passage of the working context: its source, each part of its score, the decision, and what would
    change it.

    --answer reads the window once for each block that is open, with that block closed: a word depends on the block
    without which it becomes least likely, if that is more than the control changes, a block of equal length that was
    not opened. It goes on in the background; whatever else is asked of the model goes first, and esc stops it.
    """
    runtime = engine.focus
    if not answer:
        return runtime.why(node_of(runtime, entry))
    from amgs_focus.dependence import answer_dependence

    state = runtime.state

    def give_way(done: int, total: int, doing: str) -> None:
        if progress is not None:
            progress(done, total, doing)
        engine.give_way()
        if not engine.focus_is_open or engine.focus is not runtime or runtime.state is not state:
            raise Cancelled("The working context has changed.", way_out="Ask again: `focus why --answer`.")

    return answer_dependence(runtime, give_way)


@operation(
    "focus view",
    lane="model",
    needs="operate",
    summary="Show what the model reads now, word for word and as gists.",
    synonyms=("tokens", "spans", "texts", "map", "window"),
    example="focus view",
    pane="focus",
)
def view(
    engine: Engine,
    *,
    texts: Annotated[bool, Option("--texts", help="List the texts of the lifetime instead.")] = False,
    find: Annotated[
        str, Option("--find", metavar="TEXT", help="Only texts with this in their name, path or domain.")
    ] = "",
    limit: Limit = 100,
    offset: Offset = 0,
) -> FocusView | results.LastRun | results.SpanList:
    """Show the working context: which passages of the lifetime are tokens and which are gists, and at what level.

    While none is open, show what the last session left in its trace: question, length, branches. `focus trace --resume`
    continues it. --texts lists what came into the lifetime, in order: source, domain, path, language, time, trust,
    tags, use, and how much of each was forgotten.
    """
    if texts or find:
        from amgs_app.focus.spans import list_spans

        return list_spans(engine.focus, find, limit, offset)
    return engine.focus.snapshot() if engine.focus_is_open else engine.last_run()


def _open_folder(
    engine: Engine,
    folder: Path,
    lifetime: Path | None,
    question: str,
    progress: Progress | None,
    *,
    bridges: bool,
    dry_run: bool,
) -> results.CorpusRead:
    """Read a folder of documents as the lifetime; with `dry_run`, return what would be read."""
    from amgs_focus.tree.corpus import plan_corpus
    from amgs_focus.tree.journal import JOURNAL, SpanJournal

    documents, skipped = _documents(folder)
    known: dict[str, str] = {}
    continues = lifetime is not None and (lifetime / JOURNAL).exists()
    if continues and lifetime is not None:
        journal = SpanJournal(lifetime, "", engine.settings.focus.block_size)
        known = journal.read(0).span_metadata.versions()
    plan = plan_corpus(documents, name=real_path(folder).name, known=known, bridges=bridges)
    if dry_run:
        return results.CorpusRead(str(folder), plan, skipped, False, engine.focus_view)
    if not plan.sections and not continues:
        raise UsageError(f"{folder} contains no text.", way_out="Give a folder with .md, .txt or source files.")
    runtime = engine.open_focus(plan.segments, question, progress, folder=lifetime)
    return results.CorpusRead(str(folder), plan, skipped, True, runtime.snapshot())


def _documents(folder: Path) -> tuple[list[Document], tuple[tuple[str, str], ...]]:
    """Return the texts below a folder in order of their paths, and the skipped files with reasons."""
    from amgs_focus.tree.corpus import LANGUAGES, Document

    documents, skipped = [], []
    for file in sorted(folder.rglob("*")):
        inside = file.relative_to(folder)
        if any(part.startswith(".") or part in PASSED_OVER for part in inside.parts):
            continue
        if file.suffix.lower() not in LANGUAGES or not file.is_file():
            continue
        try:
            text = file.read_bytes().decode("utf-8")
            changed = changed_at(int(file.stat().st_mtime)).isoformat()
        except UnicodeDecodeError as error:
            skipped.append((inside.as_posix(), f"it is not UTF-8 (byte {error.start})"))
        except OSError as error:
            skipped.append((inside.as_posix(), str(error.strerror)))
        else:
            documents.append(Document(inside.as_posix(), text, changed))
    return documents, tuple(skipped)


Node = Annotated[
    str,
    Arg(
        metavar="NODE",
        help="An entry's number in the working context, or its name, such as L1#20; default: the best block found.",
    ),
]

_NAMED = re.compile(r"[lL](\d+)#(\d+)")


@operation(
    "focus steer",
    lane="model",
    needs="operate",
    summary="Pin, forbid, expand or collapse a span.",
    synonyms=("pin", "forbid", "force", "override"),
    example="focus steer L1#20 pin",
    pane="focus",
    writes=True,
)
def steer(
    engine: Engine,
    node: Node,
    action: Annotated[
        Literal["pin", "forbid", "expand", "collapse"], Arg(metavar="ACTION", help="pin, forbid, expand or collapse.")
    ],
    *,
    release: Annotated[bool, Option("--release", help="Take it back.")] = False,
) -> results.Steered:
    """Overrule the scores for a span; budget, tail and levels still apply.

    pin keeps it at least this fine, forbid as coarse as it is, until released; only a completely full window overrides
    a pin. expand and collapse are done once. A span collapses together with its siblings into the gist above them; a
    gist that is not in the window can be named directly. Takes effect at the next refocus. After `focus back` it begins
    a branch.
    """
    from amgs_focus.records import parent_of

    runtime = engine.focus
    named = node_of(runtime, node)
    if action == "collapse" and runtime.context.position(named) is not None:
        named = parent_of(named, runtime.settings.block_size)
    before = runtime.state.allocator.overrides.get(named)
    if release and before != action:
        raise UsageError(
            f"{named} has no {action!r} to release.",
            way_out=f"It has {before!r}." if before else "It is neither pinned nor forbidden.",
        )
    view = runtime.override(named, None if release else action)
    in_tail = runtime.tree.span(named)[1] > runtime.context.tail_start
    return results.Steered(str(named), action, release, view, in_tail)


@operation(
    "focus measure",
    lane="model",
    needs="operate",
    summary="Measure what a passage's detail is worth, or how much each block helped the answer.",
    synonyms=("feedback", "utility", "worth"),
    example="focus measure 3",
    pane="focus",
    long=True,
    writes=True,
)
def measure(
    engine: Engine,
    entry: Node = "",
    *,
    feedback: Annotated[
        bool, Option("--feedback", help="How much each block helped the answer; the memory is told.")
    ] = False,
    residency: Annotated[
        bool, Option("--residency", help="With --feedback: by how long it was read alone, measuring nothing.")
    ] = False,
    dry_run: DryRun = False,
    progress: Progress | None = None,
) -> results.Measured | results.FocusFeedback:
    """Compute the context with the span coarse and with it fine, and compare the NLL of what follows.

    Exact, over the last `horizon` tokens; positive means the detail helps. The trace keeps it as a label.

    --feedback reports residency and measured ΔNLL back to memory, once per lifetime context: blocks that were held as
    tokens are reinforced, and open forecasts get their outcome where the measurement is further from zero than its own
    error. With --dry-run nothing is written.
    """
    runtime = engine.focus
    if feedback:
        from amgs_app.focus.feedback import report_to_memory

        return report_to_memory(engine, measure=not residency, dry_run=dry_run, progress=progress)
    measurement = runtime.measure(runtime.place(node_of(runtime, entry)))
    return results.Measured(measurement, runtime.snapshot())


@operation(
    "focus set",
    lane="model",
    needs="operate",
    summary="Change a focus setting from here on.",
    synonyms=("describe", "configure"),
    example="focus set window 512",
    pane="focus",
    writes=True,
)
def change(
    engine: Engine,
    key: Annotated[str, Arg(metavar="KEY", help="tau_expand, n_diff, window, cadence, policy, …")],
    value: Annotated[str, Arg(metavar="VALUE", help="The new value.")],
    *,
    text: Annotated[
        int | None,
        Option("--text", metavar="N", min=0, help="What is known of this text, by its number in `focus view --texts`."),
    ] = None,
) -> results.SettingChanged | results.SpanDescribed:
    """Change τ, N_diff, W_max, the cadence, the policy and others for this lifetime, from this step on.

    An unknown key lists the valid ones. Stepping back restores the old value. After `focus back` it begins a branch.

    --text sets domain, path, section, language, time, trust or version of a text instead; an empty value removes it.
    The domain chooses the half-life, trust lengthens it, and of several versions of the same path only the latest keeps
    its detail.
    """
    runtime = engine.focus
    if text is not None:
        from amgs_app.focus.spans import describe_span

        return describe_span(runtime, text, key, value)
    before = getattr(runtime.settings, key, "")
    view = runtime.configure(key, value)
    return results.SettingChanged(key, str(before), str(getattr(runtime.settings, key)), view)


def node_of(runtime: FocusRuntime, text: str) -> NodeRef:
    """Return the node that a word names: an entry's number, or a level and index such as L1#20.

    "" names the entry with the best block that the question's search found, else the last. Raises UsageError or
    FocusError if there is no such node.
    """
    from amgs_focus.records import NodeRef

    if not text:
        findings = runtime.state.findings
        block = findings.blocks[0].block if findings is not None and findings.blocks else runtime.tree.count(1) - 1
        place = runtime.context.covering(block * runtime.settings.block_size) or 0
        return runtime.context.entries()[place].node
    if text.isdigit():
        return runtime.context.entries()[runtime.place(int(text))].node
    named = _NAMED.fullmatch(text)
    if named is None:
        raise UsageError(
            f"Invalid node: {text!r}.", way_out="Give an entry's number, or a level and index such as L1#20."
        )
    node = NodeRef(int(named[1]), int(named[2]))
    if not runtime.tree.exists(node):
        raise UsageError(f"There is no {node} in this lifetime.", way_out="`focus view` shows what there is.")
    return node
