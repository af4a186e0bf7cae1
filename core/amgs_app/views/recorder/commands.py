"""The memory of another program, as its OpenTelemetry spans tell of it: `record` takes them, `recorded` shows them,
`versus` compares memories, and `bisect` tells what in a window made a model say a sentence.
"""

from __future__ import annotations

import time
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from amgs.errors import Cancelled, InputError, UsageError
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.places.folders import data_folder
from amgs_app.views.recorder import showing
from amgs_app.views.recorder.results import (
    CauseSearch,
    MemoriesCompared,
    MemoryAudit,
    MemoryRecords,
    MemoryTraffic,
    MissedFact,
    RecallScores,
    RecallShown,
    RecordedConversations,
    SpansRecorded,
)

if TYPE_CHECKING:
    from amgs.sessions.spans import RecordedSpan
    from amgs.types import Progress
    from amgs.wings.recorder.foreign_memory import ForeignMemory, MemoryOperation
    from amgs.wings.recorder.span_files import SpanWriter
    from amgs_app.engine import Engine

View = Literal["traffic", "recall", "records", "audit", "scores", "why", "conversations"]
_EVERY: Final = 0.5
"""Seconds between two lines that say what came."""
_HELD: Final = 32 * 2**20
"""Bytes up to which what was read last is kept, parsed, until more came: it takes some five times as many."""
_SHOWN, _EXAMPLES = 50, 10
_HITS: Final = 400
"""What our own memory is asked for, where a budget says how much of it counts."""


def _folder(engine: Engine) -> Path:
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
        Arg(
            metavar="FILE",
            help="Files to take instead of listening: OTLP, or an export of Langfuse or Phoenix.",
        ),
        Takes("file"),
    ] = None,
    *,
    port: Annotated[
        int, Option("--port", metavar="N", min=0, max=65535, help="Port to listen on; 0 takes a free one.")
    ] = 4318,
    until: Annotated[
        int,
        Option("--until", metavar="SECONDS", min=0, help="Stop after so long; default: when it is stopped."),
    ] = 0,
    most: Annotated[
        int, Option("--most", metavar="MIB", min=8, help="MiB that are kept in all; the oldest go first.")
    ] = 256,
    progress: Progress | None = None,
) -> SpansRecorded:
    """Listen on this machine for spans and logs by OTLP over HTTP, in JSON or protobuf, until it is stopped; or take
    files. A program that has OpenTelemetry on needs OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318.

    Bodies are kept as they came, below the data folder, and acknowledged when they are on the disk. `recorded` shows
    what they tell, also while this runs. Nothing leaves the machine, and no other machine reaches it.
    """
    from amgs.wings.recorder.bodies import import_file
    from amgs.wings.recorder.receiver import Received
    from amgs.wings.recorder.span_files import SpanWriter

    folder = _folder(engine)
    with SpanWriter(folder, most * 2**20) as writer:
        if not files:
            return _listen(engine, writer, folder, port, until or None, progress)
        received = Received()
        for number, path in enumerate(files):
            if progress is not None:
                progress(number, len(files), path.name)
            import_file(path, writer, engine.clock.now(), received.count)
    return SpansRecorded("", str(folder), received.spans, received.memory, received.answers, 0)


def _listen(
    engine: Engine,
    writer: SpanWriter,
    folder: Path,
    port: int,
    seconds: int | None,
    progress: Progress | None,
) -> SpansRecorded:
    """Listen for so long, or until it is stopped."""
    import threading

    from amgs.wings.recorder.receiver import SpanReceiver

    with SpanReceiver(writer, engine.clock.now, port) as receiver:
        threading.Thread(target=receiver.serve_forever, name="amgs-record", daemon=True).start()
        end = None if seconds is None else time.monotonic() + seconds
        try:
            while end is None or time.monotonic() < end:
                if progress is not None:
                    progress(0, 0, f"{receiver.address}: {receiver.received}")
                time.sleep(_EVERY if end is None else min(_EVERY, max(0.0, end - time.monotonic())))
        except Cancelled:
            pass  # that is how it is ended
        finally:
            receiver.shutdown()
        told = receiver.received
    return SpansRecorded(receiver.address, str(folder), told.spans, told.memory, told.answers, told.refused)


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
        Option(
            "--view", metavar="VIEW", help="traffic, recall, records, audit, scores, why or conversations."
        ),
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
        int,
        Option(
            "--days", metavar="N", min=0, help="Of an audit: not recalled for so long before the last span."
        ),
    ] = 30,
    limit: Annotated[
        int | None,
        Option(
            "--limit", metavar="N", min=1, help="Show at most N; default: 50, of an audit 10 of each reason."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        Option(
            "--out",
            metavar="FILE",
            help="Of an audit, write the ids as CSV; of records, all of them for `import FILE`; of conversations, their"
            " spans for `session FILE`.",
        ),
        Takes("file", made=True),
    ] = None,
) -> (
    MemoryTraffic
    | RecallShown
    | MemoryRecords
    | MemoryAudit
    | RecallScores
    | MissedFact
    | RecordedConversations
):
    """traffic: what the memory was asked to do, the latest first. recall: of one search (N, else the latest), what it
    brought, which of it an answer used, and what else lay there. records: what is there now. audit: records that are
    there twice, superseded, contradicted, never or long not recalled. scores: how well scores foretell use. why: what
    became of something that the answer to a search lacks, given by --find. conversations: what was said, as sessions
    that `session` opens.

    Everything is worked out of recorded spans by rules, without a model, and nothing is changed.
    """
    view = view or ("recall" if number is not None else "traffic")
    _check(view, number=number, find=find, out=out)
    from amgs.sessions.spans import instant_of
    from amgs.wings.recorder.foreign_memory import of_store

    folder, most = _folder(engine), limit or _SHOWN
    spans, torn, everything = _read(folder)
    if not spans and view != "traffic":
        raise _nothing_recorded()
    if view == "conversations":
        return showing.show_conversations(spans, find, most, out)
    memory = of_store(everything, store)
    match view:
        case "recall":
            return showing.show_recall(memory, _search(memory, number))
        case "records":
            return showing.show_records(memory, find, most, out)
        case "audit":
            ended = instant_of(max(span.end for span in spans))
            return showing.show_audit(memory, ended, days, limit or _EXAMPLES, out)
        case "scores":
            from amgs.wings.recorder.uses import review_scores

            return RecallScores(review_scores(memory))
        case "why":
            return showing.show_why(memory, _search(memory, number), find)
    return showing.show_traffic(memory, find, most, spans, torn, folder)


_FOR_VIEWS: Final = {
    "number": ("recall", "why"),
    "find": ("traffic", "records", "why", "conversations"),
    "out": ("records", "audit", "conversations"),
}


def _check(view: View, **given: object) -> None:
    """Refuse what means nothing for a view, and what it cannot do without."""
    for name, value in given.items():
        if value not in (None, "") and view not in _FOR_VIEWS[name]:
            told = "A number" if name == "number" else f"--{name}"
            raise UsageError(
                f"{told} means nothing with `--view {view}`.",
                way_out=f"It is for {', '.join(_FOR_VIEWS[name])}.",
            )
    if view == "why" and not given["find"]:
        raise UsageError("What was missed?", way_out="Give it with --find, in the words of its record.")


Everything = tuple[tuple["RecordedSpan", ...], int, "ForeignMemory"]
"""The spans that were recorded, how many bodies are not whole, and the memory that they tell of."""


def _spans(folder: Path) -> Everything:
    """What was recorded; raises InputError where nothing was."""
    read = _read(folder)
    if not read[0]:
        raise _nothing_recorded()
    return read


def _nothing_recorded() -> InputError:
    return InputError(
        "Nothing is recorded here.",
        way_out="`record` listens for spans, `record FILE` takes them from a file.",
    )


def _read(folder: Path) -> Everything:
    from amgs.wings.recorder.span_files import sizes_in

    sizes = sizes_in(folder)
    read = _parsed if sum(sizes.values()) <= _HELD else _parsed.__wrapped__
    return read(folder, tuple(sizes.items()))


@lru_cache(maxsize=1)
def _parsed(folder: Path, sizes: tuple[tuple[Path, int], ...]) -> Everything:
    """What lies in a folder; sizes: of its files, which tell whether it is still the same."""
    from amgs.sessions.spans import joined
    from amgs.wings.recorder.bodies import contents_of
    from amgs.wings.recorder.foreign_memory import memory_of
    from amgs.wings.recorder.span_files import SpanReader

    del sizes
    reader = SpanReader(folder)
    spans = joined(list(contents_of(reader.new())))
    return spans, reader.torn, memory_of(spans)


def _search(memory: ForeignMemory, number: int | None) -> MemoryOperation:
    """A search by its number, or the latest; raises UsageError for none."""
    found = [one for one in memory.searches() if number in (None, one.number)]
    if not found:
        told = "No search was recorded." if number is None else f"Operation {number} is no search."
        raise UsageError(told, way_out="`recorded` lists what was.")
    return found[-1]


@operation(
    "versus",
    place="here",
    summary="Compare memories on your own questions: as much text each, judged by what it holds.",
    synonyms=("compare memories", "benchmark", "mem0", "langgraph"),
    example="versus questions.yml --with amgs --with plain-files=notes --budget 1000",
    long=True,
)
def versus(
    engine: Engine,
    file: Annotated[
        Path,
        Arg(metavar="FILE", help="A YAML file of questions, as `question add` writes it."),
        Takes("file"),
    ],
    *,
    memories: Annotated[
        list[str] | None,
        Option(
            "--with",
            metavar="NAME[=WHAT]",
            help="amgs, plain-files=DIR, langgraph, mem0, recorded, NAME=FILE.jsonl or NAME=COMMAND; may be repeated.",
        ),
    ] = None,
    budget: Annotated[
        int, Option("--budget", metavar="N", min=1, help="Tokens of text that count for a question.")
    ] = 1000,
    top: Annotated[
        int | None, Option("--top", metavar="N", min=1, help="Instead of a budget, so many texts.")
    ] = None,
    progress: Progress | None = None,
) -> MemoriesCompared:
    """Ask every memory the same questions, and count those of which what it gives within the budget holds all that
    must_contain names and nothing of must_not_contain. Beside them stand BM25 over the texts of your memory, as many of
    them at random, and all of them.

    langgraph and mem0 are given the texts of your memory, with vectors of the same encoder; plain-files are paragraphs
    that hold words of the question. recorded: what the searches that `record` took in gave for the same questions. A
    command reads `{"question": …}` a line and writes `{"texts": […]}`; a file of such lines holds both. No model
    judges.
    """
    from contextlib import ExitStack

    from amgs.exchange.question_cases import read_cases
    from amgs.types import BlockFilter
    from amgs.wings.recorder.contenders import contender
    from amgs.wings.recorder.versus import compare, controls

    cases = [case for case in read_cases(file) if case.must_contain or case.must_not_contain]
    if not cases:
        raise InputError(
            f"{file} holds no question that says what its answer must contain.",
            way_out="Add one with `question add`.",
        )
    memory = engine.memory
    memory.load(progress)
    texts = [block.content for block in memory.blocks(BlockFilter())]

    def ask(question: str) -> list[str]:
        return [hit.block.content for hit in memory.search(question, top_k=top or _HITS).hits]

    with ExitStack() as held:
        chosen = [
            contender(
                one,
                texts,
                amgs=ask,
                embed=memory.embed,
                dimension=memory.space[1],
                recorded=lambda: _spans(_folder(engine))[2],
                held=held,
            )
            for one in memories or ("amgs",)
        ]
        every = [*chosen, *controls(texts, engine.seed)]
        scores = compare(cases, every, budget=budget, top=top, progress=progress)
    questions = tuple(case.question for case in cases)
    return MemoriesCompared(str(file), len(texts), budget if top is None else None, top, questions, scores)


@operation(
    "bisect",
    summary="Find what in its window made a model say a sentence: spans are left out, and it is asked again.",
    synonyms=("cause", "blame", "attribution", "wrong sentence"),
    example='bisect 3 "The boiler was replaced in May."',
    long=True,
)
def bisect(
    engine: Engine,
    exchange: Annotated[
        str,
        Arg(
            metavar="EXCHANGE",
            help="A request, by its number in `conversation exchanges`; or the last answer of a recorded conversation.",
        ),
    ],
    sentence: Annotated[str, Arg(metavar="SENTENCE", help="What the model said, a sentence of its answer.")],
    *,
    upstream: Annotated[
        str,
        Option(
            "--upstream",
            metavar="URL",
            help="The server to ask again, as http://127.0.0.1:8000/v1#NAME; own: this program's model. "
            "Default: `model.server` in the settings, else own.",
        ),
    ] = "",
    progress: Progress | None = None,
) -> CauseSearch:
    """Cut the window into spans (messages, paragraphs of long ones, blocks of frames) and ask which of them the
    sentence comes from. The question always stays.

    This program's model says how likely the sentence is without each span, and with that span alone: a span weighs what
    is lost without it, and half of what it gives alone. A server is asked again without those that weigh most, at
    temperature 0 and six times at most, the whole window first, until a quarter of the sentence's words is lost. Where
    no span accounts for it, it cannot tell, and says so. What a server is asked through a gateway is kept there as a
    conversation: give the address of the server behind it.
    """
    from amgs.wings.recorder.bisection import find_cause
    from amgs_app.views.recorder import asking_again

    if not any(map(str.isalnum, sentence)):
        raise UsageError("Which sentence?", way_out="Give one that the model said, in quotation marks.")
    if exchange.isdecimal():
        window = asking_again.of_gateway(engine.memory.gateway.exchange(int(exchange)))
    else:
        window = asking_again.of_spans(_spans(_folder(engine))[0], exchange)
    chosen = upstream or engine.settings.model.server or asking_again.OWN
    with asking_again.asked_model(chosen, window.model, sentence.strip()) as asked:
        weighed_by, score = asking_again.small_model(engine, sentence.strip())
        found = find_cause(window.messages, score, asked, progress)
    said = " ".join(sentence.split()) in " ".join(window.said.split())
    return CauseSearch(
        exchange, sentence, said, window.model, weighed_by, asked.name if asked is not None else "", found
    )
