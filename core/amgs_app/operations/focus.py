"""The working context: `focus open`, `step`, `refocus`, `back`, `why`, `view`, `tokens`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs.errors import UsageError
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.operations.arguments import Lifetime
from amgs_app.operations.focus_control import Node, node_of
from amgs_app.results.focus import Opened, RunPosition, Stepped

if TYPE_CHECKING:
    from amgs.types import Progress
    from amgs_app.engine import Engine
    from amgs_focus.records import Refocus, TokenSpan
    from amgs_focus.views import EntryExplanation, FocusView

Count = Annotated[int, Arg(metavar="N", min=1, help="How many tokens."), Takes("number")]


@operation(
    "focus open",
    lane="model",
    needs="operate",
    summary="Open files, or all consolidated blocks, as the lifetime context.",
    synonyms=("load", "context window"),
    example='focus open chapter.txt --question "who wrote the letter?"',
    pane="focus",
    long=True,
    writes=True,
)
def open_context(
    engine: Engine,
    files: Annotated[
        list[Path] | None,
        Arg(metavar="FILE", help="Text files; default: the consolidated blocks."),
        Takes("file"),
    ] = None,
    *,
    question: Annotated[str, Option("--question", metavar="TEXT", help="The question for the model.")] = "",
    lifetime: Lifetime = None,
    progress: Progress | None = None,
) -> Opened:
    """Open text files, or every consolidated block by age, as the lifetime context.

    --lifetime keeps it in a folder, created if needed: files are appended to what the folder holds, and without files
    it is opened as it is. `frame open` opens the last frame instead.
    """
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
def why(
    engine: Engine,
    entry: Node,
) -> EntryExplanation:
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
def view(engine: Engine) -> FocusView:
    """Show the working context: which spans of the lifetime are tokens and which are gists, and at what
    level.
    """
    return engine.focus.snapshot()


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
