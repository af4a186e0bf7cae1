"""Another program's memory by its OpenTelemetry spans: `record` stores them, `recorded` shows them."""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from amgs.errors import Cancelled, InputError, UsageError
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.sessions.spans import RecordedSpan
    from amgs.types import Progress
    from amgs.wings.recorder.bodies import SpanWriter
    from amgs.wings.recorder.foreign_memory import ForeignMemory, MemoryOperation
    from amgs_app.engine import Engine
    from amgs_app.views.recorder.results import (
        MemoryAudit,
        MemoryRecords,
        MemoryTraffic,
        MissedFact,
        RecallScores,
        RecallShown,
        RecordedConversations,
        SpansRecorded,
    )

View = Literal["traffic", "recall", "records", "audit", "scores", "why", "conversations"]
_EVERY: Final = 0.5
"""Seconds between two progress lines."""
_HELD: Final = 32 * 2**20
"""Bodies of up to this many bytes stay parsed in memory, in about five times as many bytes, until more arrive."""
_SHOWN, _EXAMPLES = 50, 10


def _folder(engine: Engine) -> Path:
    from amgs_app.places.folders import data_folder

    return data_folder(engine.settings.paths) / "recorded"


@operation(
    "record",
    place="here",
    summary="Take OpenTelemetry spans of other programs, and keep what they say of memories and conversations.",
    synonyms=("otlp", "opentelemetry", "mem0", "letta", "langmem", "langfuse", "phoenix", "flight recorder"),
    example="record --until 600",
    long=True,
)
def record(
    engine: Engine,
    files: Annotated[
        list[Path] | None,
        Arg(metavar="FILE", help="Files to take instead of listening: OTLP, or an export of Langfuse or Phoenix."),
        Takes("file"),
    ] = None,
    *,
    port: Annotated[
        int, Option("--port", metavar="N", min=0, max=65535, help="Port to listen on; 0 takes a free port.")
    ] = 4318,
    until: Annotated[
        int, Option("--until", metavar="SECONDS", min=0, help="Stop after so long; default: when it is stopped.")
    ] = 0,
    most: Annotated[
        int, Option("--most", metavar="MIB", min=8, help="MiB that are stored in all; the oldest go first.")
    ] = 256,
    progress: Progress | None = None,
) -> SpansRecorded:
    """Listen on this machine for spans and logs by OTLP over HTTP, in JSON or protobuf, until it is stopped; or take
    files. A program that has OpenTelemetry on needs OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318.

    Bodies are stored as they came, but for their secrets, below the data folder, and acknowledged when they are on the
    disk. `recorded` shows what they tell, also while this runs. Nothing leaves the machine, and no other machine
    reaches it.
    """
    from amgs.wings.recorder.bodies import SpanWriter, import_file
    from amgs.wings.recorder.receiver import Received
    from amgs_app.views.recorder.results import SpansRecorded

    folder = _folder(engine)
    masks = engine.settings.memory.ingest.secrets == "mask"
    with SpanWriter(folder, most * 2**20, masks=masks) as writer:
        if not files:
            return _listen(engine, writer, folder, port, until or None, progress)
        received = Received()
        for number, path in enumerate(files):
            if progress is not None:
                progress(number, len(files), path.name)
            import_file(path, writer, engine.clock.now(), received.count)
    return SpansRecorded("", str(folder), received.spans, received.memory, received.answers, 0)


def _listen(
    engine: Engine, writer: SpanWriter, folder: Path, port: int, seconds: int | None, progress: Progress | None
) -> SpansRecorded:
    """Listen for `seconds`, or until cancelled."""
    import threading

    from amgs.wings.recorder.receiver import SpanReceiver
    from amgs_app.views.recorder.results import SpansRecorded

    with SpanReceiver(writer, engine.clock.now, port) as receiver:
        threading.Thread(target=receiver.serve_forever, name="amgs-record", daemon=True).start()
        end = None if seconds is None else time.monotonic() + seconds
        try:
            while end is None or time.monotonic() < end:
                if progress is not None:
                    progress(0, 0, f"{receiver.address}: {receiver.received}")
                time.sleep(_EVERY if end is None else min(_EVERY, max(0.0, end - time.monotonic())))
        except Cancelled:
            pass  # cancelling is how it ends
        finally:
            receiver.shutdown()
        receipt = receiver.received
    return SpansRecorded(receiver.address, str(folder), receipt.spans, receipt.memory, receipt.answers, receipt.refused)


@operation(
    "recorded",
    place="here",
    summary="Show what the memory of another program did, what of it was of use, and what is not.",
    synonyms=("recalls", "audit", "foreign memory"),
    example="recorded --view audit --days 30 --out retire.csv",
    pane="recorder",
)
def recorded(
    engine: Engine,
    number: Annotated[
        int | None, Arg(metavar="N", help="An operation by its number in the list; with recall and why.")
    ] = None,
    *,
    view: Annotated[
        View | None,
        Option("--view", metavar="VIEW", help="traffic, recall, records, audit, scores, why or conversations."),
    ] = None,
    store: Annotated[str, Option("--store-id", metavar="ID", help="Only of this store of the program.")] = "",
    find: Annotated[
        str,
        Option(
            "--find",
            metavar="WORDS",
            help="Of traffic, records and conversations, those that hold these words; with why, what was missed.",
        ),
    ] = "",
    days: Annotated[
        int, Option("--days", metavar="N", min=0, help="Of an audit: not recalled for so long before the last span.")
    ] = 30,
    limit: Annotated[
        int | None,
        Option("--limit", metavar="N", min=1, help="Show at most N; default: 50, of an audit 10 of each reason."),
    ] = None,
    out: Annotated[
        Path | None,
        Option(
            "--out",
            metavar="FILE",
            help="Of an audit, write the ids as CSV; of records, all of them for `import FILE`; of conversations, their"
            " spans for `session FILE`.",
        ),
        Takes("file", writes=True),
    ] = None,
) -> MemoryTraffic | RecallShown | MemoryRecords | MemoryAudit | RecallScores | MissedFact | RecordedConversations:
    """Show what recorded spans tell of the memory of another program. The views:
    - traffic: what the memory was asked to do, the latest first: `recorded --view traffic`
    - recall: of a search (N, else the latest), what it brought, which of it an answer used, and what else lay there:
      `recorded 12`
    - records: what is there now: `recorded --view records --find kiln`
    - audit: records that are there twice, superseded, contradicted, never or long not recalled:
      `recorded --view audit --days 30`
    - scores: how well scores foretell use: `recorded --view scores`
    - why: what became of something that the answer to a search lacks: `recorded 12 --view why --find kiln`
    - conversations: what was said, as sessions that `session` opens: `recorded --view conversations`

    Everything is worked out of recorded spans by rules, without a model, and nothing is changed.
    """
    view = view or ("recall" if number is not None else "traffic")
    _check(view, number=number, find=find, out=out)
    from amgs.sessions.spans import instant_of
    from amgs.wings.recorder.foreign_memory import restrict_to_store
    from amgs_app.views.recorder import results

    folder, most = _folder(engine), limit or _SHOWN
    spans, torn, everything = _read(folder)
    if not spans and view != "traffic":
        raise _build_empty_error()
    if view == "conversations":
        return results.show_conversations(spans, find, most, out)
    memory = restrict_to_store(everything, store)
    match view:
        case "recall":
            return results.show_recall(memory, _search(memory, number))
        case "records":
            return results.show_records(memory, find, most, out)
        case "audit":
            ended = instant_of(max(span.end for span in spans))
            return results.show_audit(memory, ended, days, limit or _EXAMPLES, out)
        case "scores":
            from amgs.wings.recorder.uses import review_scores
            from amgs_app.views.recorder.results import RecallScores

            return RecallScores(review_scores(memory))
        case "why":
            return results.show_why(memory, _search(memory, number), find)
    return results.show_traffic(memory, find, most, spans, torn, folder)


_FOR_VIEWS: Final = {
    "number": ("recall", "why"),
    "find": ("traffic", "records", "why", "conversations"),
    "out": ("records", "audit", "conversations"),
}


def _check(view: View, **options: object) -> None:
    """Refuse options that a view does not take, and missing ones that it needs."""
    for name, value in options.items():
        if value not in (None, "") and view not in _FOR_VIEWS[name]:
            option = "A number" if name == "number" else f"--{name}"
            raise UsageError(
                f"{option} means nothing with `--view {view}`.", way_out=f"It is for {', '.join(_FOR_VIEWS[name])}."
            )
    if view == "why" and not options["find"]:
        raise UsageError("What was missed?", way_out="Give it with --find, in the words of its record.")


Everything = tuple[tuple["RecordedSpan", ...], int, "ForeignMemory"]
"""Recorded spans, number of damaged bodies, and the memory that they report."""


def _build_empty_error() -> InputError:
    return InputError(
        "Nothing is recorded here.", way_out="`record` listens for spans, `record FILE` takes them from a file."
    )


def _read(folder: Path) -> Everything:
    from amgs.wings.recorder.bodies import sizes_in

    sizes = sizes_in(folder)
    read = _parse_folder if sum(sizes.values()) <= _HELD else _parse_folder.__wrapped__
    return read(folder, tuple(sizes.items()))


@lru_cache(maxsize=1)
def _parse_folder(folder: Path, sizes: tuple[tuple[Path, int], ...]) -> Everything:
    """Return the parsed content of a folder. sizes: of its files, as the cache key."""
    from amgs.sessions.spans import join_contents
    from amgs.wings.recorder.bodies import SpanReader, contents_of
    from amgs.wings.recorder.foreign_memory import memory_of

    del sizes
    reader = SpanReader(folder)
    spans = join_contents(list(contents_of(reader.new())))
    return spans, reader.torn, memory_of(spans)


def _search(memory: ForeignMemory, number: int | None) -> MemoryOperation:
    """Return a search by its number, or the latest; raises UsageError if there is none."""
    searches = [search for search in memory.searches() if number in (None, search.number)]
    if not searches:
        problem = "No search was recorded." if number is None else f"Operation {number} is no search."
        raise UsageError(problem, way_out="`recorded` lists what was.")
    return searches[-1]
