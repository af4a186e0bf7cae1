"""The working context: `focus open`, `step`, `refocus`, `back`, `why`, `view`, `tokens`, and what the operator tells
it: `steer`, `measure`, `set`.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.clock import changed_at
from amgs.errors import UsageError
from amgs.regular_file import real_path
from amgs_app.calls.arguments import DryRun, Lifetime
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.results.focus import (
    CorpusRead,
    GistsMeasured,
    LastRun,
    Measured,
    Opened,
    RunPosition,
    SettingChanged,
    Steered,
    Stepped,
)

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from amgs_focus.records import NodeRef, Refocus, TokenSpan
    from amgs_focus.runtime.runtime import FocusRuntime
    from amgs_focus.tree.corpus import Document
    from amgs_focus.views import EntryExplanation, FocusView


PASSED_OVER = frozenset({"node_modules", "__pycache__", "build", "dist", "venv"})
"""Folders that hold what was made from sources; those whose name begins with a dot are passed over too."""

Count = Annotated[int, Arg(metavar="N", min=1, help="How many tokens."), Takes("number")]


@operation(
    "focus open",
    lane="model",
    needs="operate",
    summary="Open files, a folder, or all consolidated blocks, as the lifetime context.",
    synonyms=("load", "context window", "corpus"),
    example='focus open chapter.txt --question "who wrote the letter?"',
    pane="focus",
    long=True,
    writes=True,
)
def open_context(
    engine: Engine,
    files: Annotated[
        list[Path] | None,
        Arg(metavar="FILE", help="Text files, or one folder; default: the consolidated blocks."),
        Takes("file"),
    ] = None,
    *,
    question: Annotated[str, Option("--question", metavar="TEXT", help="The question for the model.")] = "",
    lifetime: Lifetime = None,
    bridges: Annotated[
        bool, Option("--bridges/--no-bridges", help="In a folder, link definitions to what mentions them.")
    ] = True,
    dry_run: DryRun = False,
    progress: Progress | None = None,
) -> Opened | CorpusRead:
    """Open text files, or every consolidated block by age, as the lifetime context.

    --lifetime keeps it in a folder, created if needed: files are appended to what the folder holds, and without files
    it is opened as it is. `frame open` opens the last frame instead.

    A folder is read by domain, README → design → prose → source → tests, split at headings and definitions, without
    near-duplicate sections, each section with its path, language, version and time. With --lifetime only new or changed
    documents are added, and older versions count as superseded.
    """
    from amgs_app.places.paths import is_folder

    if files and len(files) == 1 and is_folder(files[0]):
        return _open_folder(engine, files[0], lifetime, question, progress, bridges=bridges, dry_run=dry_run)
    if dry_run:
        raise UsageError("Only a folder can be previewed.", way_out="Name one, or leave out --dry-run.")
    from amgs_app.models.choice import segments_of_blocks, segments_of_files

    if lifetime is not None and not files and (lifetime / "spans.jsonl").exists():
        runtime = engine.open_focus((), question, progress, folder=lifetime)
        return Opened(str(lifetime), question, 0, runtime.snapshot())
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
    return Opened(source, question, len(segments), runtime.snapshot())


@operation(
    "focus step",
    lane="model",
    needs="operate",
    summary="Decode tokens, refocusing when due.",
    synonyms=("generate", "decode"),
    example="focus step 20",
    pane="focus",
    long=True,
    writes=True,
    keys=("full_stop",),
)
def step(engine: Engine, count: Count = 1, *, progress: Progress | None = None) -> Stepped:
    """Decode N tokens. Every `cadence` tokens the working context is refocused first: spans expand or
    collapse.

    Stops early when the answer ends.
    """
    runtime = engine.focus
    records = runtime.decode(count, progress)
    return Stepped(records, runtime.snapshot())


@operation(
    "focus refocus",
    lane="model",
    needs="operate",
    summary="Refocus now, without decoding.",
    example="focus refocus",
    pane="focus",
    long=True,
    writes=True,
    keys=("greater_than_sign",),
)
def refocus(engine: Engine) -> Stepped:
    """Score every entry, and expand and collapse spans now, without waiting for the cadence."""
    runtime = engine.focus
    made: Refocus = runtime.refocus()
    return Stepped((), runtime.snapshot(), made)


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
def back(engine: Engine, count: Count = 1) -> RunPosition:
    """Go back N tokens: lifetime, working context and scores are exactly what they were. `focus step` repeats them."""
    return RunPosition("back", count, engine.focus.back(count))


@operation(
    "focus why",
    lane="model",
    needs="operate",
    summary="Explain a span: its score, the decision and the reason.",
    example="focus why 3",
    pane="focus",
    keys=("enter",),
)
def why(engine: Engine, entry: Node) -> EntryExplanation:
    """Explain a span of the working context: its source, each part of its score, the decision, and what
    would change it.
    """
    runtime = engine.focus
    return runtime.why(node_of(runtime, entry))


@operation(
    "focus view",
    lane="model",
    needs="operate",
    summary="Show the level-of-detail map.",
    example="focus view",
    pane="focus",
)
def view(engine: Engine) -> FocusView | LastRun:
    """Show the working context: which spans of the lifetime are tokens and which are gists, and at what level.

    While none is open, show what the last session left in its trace: question, length, branches. `focus resume`
    continues it.
    """
    return engine.focus.snapshot() if engine.focus_is_open else engine.last_run()


@operation(
    "focus tokens",
    lane="model",
    needs="operate",
    summary="Show tokens of the lifetime, one by one.",
    example="focus tokens 0 20",
    pane="focus",
    keys=("plus",),
)
def tokens(
    engine: Engine,
    start: Annotated[int, Arg(metavar="START", min=0, help="The first position in the lifetime, from 0.")],
    count: Annotated[int, Arg(metavar="N", min=1, max=4096, help="How many tokens."), Takes("number")] = 32,
) -> TokenSpan:
    """Show N tokens of the lifetime from START on, each with its text, as the map does at its deepest zoom."""
    return engine.focus.tokens(start, start + count)


def _open_folder(
    engine: Engine,
    folder: Path,
    lifetime: Path | None,
    question: str,
    progress: Progress | None,
    *,
    bridges: bool,
    dry_run: bool,
) -> CorpusRead:
    """Read a folder as the lifetime, or say what would be read."""
    from amgs_focus.tree.corpus import plan_corpus
    from amgs_focus.tree.journal import JOURNAL, SpanJournal

    documents, skipped = _documents(folder)
    known: dict[str, str] = {}
    going_on = lifetime is not None and (lifetime / JOURNAL).exists()
    if going_on and lifetime is not None:
        journal = SpanJournal(lifetime, "", engine.settings.focus.block_size)
        known = journal.read(0).span_metadata.versions()
    plan = plan_corpus(documents, name=real_path(folder).name, known=known, bridges=bridges)
    if dry_run:
        return CorpusRead(str(folder), plan, skipped, False, engine.focus_view)
    if not plan.sections and not going_on:
        raise UsageError(f"{folder} contains no text.", way_out="Give a folder with .md, .txt or source files.")
    runtime = engine.open_focus(plan.segments, question, progress, folder=lifetime)
    return CorpusRead(str(folder), plan, skipped, True, runtime.snapshot())


def _documents(folder: Path) -> tuple[list[Document], tuple[tuple[str, str], ...]]:
    """The texts in and below a folder, in the order of their paths, and what was passed over and why."""
    from amgs_focus.tree.corpus import LANGUAGES, Document

    found, skipped = [], []
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
            found.append(Document(inside.as_posix(), text, changed))
    return found, tuple(skipped)


Node = Annotated[str, Arg(metavar="NODE", help="A span's number in the working context, or its name, such as L1#20.")]

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
) -> Steered:
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
    return Steered(str(named), action, release, view, in_tail)


@operation(
    "focus measure",
    lane="model",
    needs="operate",
    summary="Measure what a span's detail is worth, or what all gists carry.",
    example="focus measure 3",
    pane="focus",
    long=True,
    writes=True,
)
def measure(
    engine: Engine,
    entry: Annotated[
        str,
        Arg(
            metavar="POSITION",
            help="The span's number in the working context, from 0, or its name, such as L1#20; without one, the gists "
            "of the whole lifetime are measured.",
        ),
    ] = "",
    *,
    progress: Progress | None = None,
) -> Measured | GistsMeasured:
    """Compute the context with the span coarse and with it fine, and compare the NLL of what follows.

    Exact, over the last `horizon` tokens; positive means the detail helps. The trace keeps it as a label. Without a
    span: at 24 places, two blocks stand as their gists, as those of another place and as tokens; what only the right
    gists add is what gists carry.
    """
    runtime = engine.focus
    if not entry:
        from amgs_focus.carried import carried

        return GistsMeasured(carried(runtime.tree, progress=progress), runtime.snapshot())
    found = runtime.measure(runtime.place(node_of(runtime, entry)))
    return Measured(found, runtime.snapshot())


@operation(
    "focus set",
    lane="model",
    needs="operate",
    summary="Change a focus setting from here on.",
    example="focus set window 512",
    pane="focus",
    writes=True,
)
def change(
    engine: Engine,
    key: Annotated[str, Arg(metavar="KEY", help="tau_expand, n_diff, window, cadence, policy, …")],
    value: Annotated[str, Arg(metavar="VALUE", help="The new value.")],
) -> SettingChanged:
    """Change τ, N_diff, W_max, the cadence, the policy and others for this lifetime, from this step on.

    An unknown key lists the valid ones. Stepping back restores the old value. After `focus back` it begins a branch.
    """
    runtime = engine.focus
    before = getattr(runtime.settings, key, "")
    view = runtime.configure(key, value)
    return SettingChanged(key, str(before), str(getattr(runtime.settings, key)), view)


def node_of(runtime: FocusRuntime, text: str) -> NodeRef:
    """The node that a word names; raises UsageError, or FocusError, when there is none."""
    from amgs_focus.records import NodeRef

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
