"""Measuring the memory and the screen: `bench NAME`."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Option
from benchmarks.commands.rigs import Books, WorkFolder, bench, memory_rig, names_of, sizes_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from amgs.types import Progress
    from amgs_app.engine import Engine
    from benchmarks.bench_results import BenchResult
    from benchmarks.figures import FiguresChecked


@bench("locomo", summary="Measure retrieval on conversations in LoCoMo's format.", example="locomo --data locomo")
def bench_locomo(
    engine: Engine,
    *,
    data: Annotated[Path, Option("--data", metavar="DIR", help="A folder of conversations.")],
    layers: Annotated[
        bool, Option("--layers/--no-layers", help="Also search with each layer off, and with it alone.")
    ] = True,
    progress: Progress,
) -> BenchResult:
    """Run protocol turn-R: one store per conversation, one block per turn, the question as the query.

    Reports recall, nDCG and MRR by category, reference methods, what each layer contributes, latency, and how well
    questions without an answer are recognised. Does not touch the session's own store.
    """
    from benchmarks.locomo import run

    return run(memory_rig(engine, progress), data, ablate=layers)


@bench(
    "diagnose", summary="Measure how often the cause of a missed fact is named right.", example="diagnose --data locomo"
)
def bench_diagnose(
    engine: Engine,
    *,
    data: Annotated[
        Path, Option("--data", metavar="PATH", help="Conversations in LoCoMo's format: a folder or a file.")
    ],
    progress: Progress,
) -> BenchResult:
    """Plant forty failures, five groups of eight, in conversations of others, by operations that people use; diagnose
    each, and carry the proposed fix out.

    Reports in how many the cause is named right and the fix works while at most one other question loses its answer,
    beside the commonest cause, a rule that looks only at a search, and diagnoses dealt out by chance. Does not touch
    the session's own store.
    """
    from benchmarks.diagnose import run

    return run(memory_rig(engine, progress), data)


@bench("documents", summary="Measure retrieval of sections by their headings.", example="documents --data documents")
def bench_documents(
    engine: Engine,
    *,
    data: Annotated[Path, Option("--data", metavar="DIR", help="A folder of projects, each a folder of Markdown.")],
    progress: Progress,
) -> BenchResult:
    """Run protocol documents-H: one store a project; every heading of level 2 or 3 over at least 40 words is asked as
    "HEADING in PROJECT", with its line taken out. Right are the blocks of its section.

    Reports MRR@10, hit@1 and recall@10 beside each layer alone, rank fusion and chance, and by how much the search is
    over the better layer, for the project where that is least. Does not touch the session's own store.
    """
    from benchmarks.documents import run

    return run(memory_rig(engine, progress), data)


@bench(
    "multihop",
    summary="Measure retrieval of paragraphs that a question needs together.",
    example="multihop --data multihop",
)
def bench_multihop(
    engine: Engine,
    *,
    data: Annotated[Path, Option("--data", metavar="DIR", help="A folder with hotpotqa.json, musique.json.")],
    progress: Progress,
) -> BenchResult:
    """Pool the paragraphs of all questions of a data set in one store and ask each question as it stands. Reports
    recall@10 of the supporting paragraphs beside each layer alone, rank fusion and chance.
    """
    from benchmarks.multihop import run

    return run(memory_rig(engine, progress), data)


@bench("conversation", summary="Measure what is read from conversations.", example="conversation --data data")
def bench_conversation(
    engine: Engine,
    *,
    data: Annotated[Path, Option("--data", metavar="DIR", help="A folder with coref/, temporal/ and others.")],
    questions: Annotated[
        int, Option("--questions", metavar="N", min=0, help="Answers that the language model judges; 0: none.")
    ] = 120,
    only: Annotated[str, Option("--only", metavar="NAME,NAME", help="These subjects; else all.")] = "",
    abstractive: Annotated[
        bool, Option("--abstractive", help="Judge answers after summaries by the model, too: half a minute each.")
    ] = False,
    progress: Progress,
) -> BenchResult:
    """Measure every subject that the folder has data for, each with its controls beside it: dates, topics, questions,
    who is meant by names and pronouns, what a shortened conversation keeps of the evidence and of the answers. The
    language model of the session judges answers, which takes some minutes for every hundred.

    Needs corpora that are not part of the program. Does not touch the session's own store.
    """
    from benchmarks.conversation.run import run

    model = partial(engine.load_model, progress) if questions else None
    return run(memory_rig(engine, progress), data, model, questions, only=names_of(only), abstractive=abstractive)


@bench("evidence", summary="Measure what of the answers stands in frames.", example="evidence --data DIR")
def bench_evidence(
    engine: Engine,
    *,
    data: Annotated[Path, Option("--data", metavar="DIR", help="With locomo/, realtalk/ and multihop/.")],
    budget: Annotated[
        list[int] | None,
        Option("--budget", metavar="N", help="Tokens; may be repeated. 300, 614 and 1,000 unless given."),
    ] = None,
    every: Annotated[int, Option("--every", metavar="N", min=1, help="Ask one question in N.")] = 1,
    progress: Progress,
) -> BenchResult:
    """Assemble five frames for each question and report the share of what answers it that stands there,
    beside the weights of the specification, the search's order filled up, BM25, the latest, random texts and the
    ceiling; and whether a question is held as often as SESSION promises by the other conversations. Does not touch the
    session's own store.
    """
    from benchmarks.evidence import run

    return run(memory_rig(engine, progress), data, tuple(budget or (300, 614, 1000)), every)


@bench("answers", summary="Measure whether the log names the blocks that answers used.", example="answers --data DIR")
def bench_answers(
    engine: Engine,
    *,
    data: Annotated[Path, Option("--data", metavar="DIR", help="With locomo/ and realtalk/.")],
    every: Annotated[int, Option("--every", metavar="N", min=1, help="Ask one question in N.")] = 1,
    progress: Progress,
) -> BenchResult:
    """Assemble a frame for each question, answer it, and report how many of the blocks that the log calls used are
    among those that answer, beside random blocks of the frame and all of them; and what a calibration learns from it.
    Does not touch the session's own store.
    """
    from benchmarks.answer_uses import run

    return run(memory_rig(engine, progress), data, every)


@bench("written", summary="Measure the rules that check what a language model writes.", example="written --data DIR")
def bench_written(
    engine: Engine, *, data: Annotated[Path, Option("--data", metavar="DIR", help="With locomo/ and realtalk/.")]
) -> BenchResult:
    """Report how many sentences of messages stay as a digest of them, and how many with another number, another name,
    or of another conversation. No language model runs.
    """
    from benchmarks.written import run

    return run(data, engine.seed)


@bench("facts", summary="Measure finding short facts among long documents.", example="facts")
def bench_facts(
    engine: Engine,
    *,
    facts: Annotated[
        Path, Option("--facts", metavar="FILE", help="Statement, question, question in other words; by tabs.")
    ],
    among: Annotated[Path, Option("--among", metavar="DIR", help="The documents they are put among.")],
    progress: Progress,
) -> BenchResult:
    """Put the statement of each line among the documents and ask both questions. Reports how often the statement is
    the first hit, beside each layer alone, rank fusion and chance.
    """
    from benchmarks.facts import run

    return run(memory_rig(engine, progress), facts, among)


@bench("lives", summary="Check what a memory says about notes that change.", example="lives --lives 10")
def bench_lives(
    engine: Engine,
    *,
    lives: Annotated[int, Option("--lives", metavar="N", min=1, max=75, help="How many.")] = 50,
    moments: Annotated[int, Option("--moments", metavar="N", min=2, help="Of each.")] = 6,
    words: Annotated[
        bool, Option("--words/--encoder", help="With hashed words, or with the encoder of the session.")
    ] = True,
    progress: Progress,
) -> BenchResult:
    """Generate lives of notes in two folders (edited, moved, split, merged, deleted, restored, reverted, duplicated)
    and take each moment in as `ingest --sync` does. Then ask for every fact: the current one must come first and no
    stale one unmarked or into a frame, the past must be as it was, and undo must bring back exactly what was.

    Beside it the same lives with plain ingest, and with a memory made anew each time. Misses are named. Does not touch
    the session's own store.
    """
    from dataclasses import replace

    from amgs.text.embedding import HashingEmbedder
    from benchmarks.lives import run

    rig = memory_rig(engine, progress)
    return run(replace(rig, embedder=HashingEmbedder()) if words else rig, lives, moments)


@bench("search", summary="Measure search time in stores of any size.", example="search --blocks 10000 --data books")
def bench_search(
    engine: Engine,
    *,
    blocks: Annotated[str, Option("--blocks", metavar="N,N", help="Sizes of the stores.")] = "10000,100000",
    data: Books,
    work: WorkFolder = None,
    questions: Annotated[int, Option("--questions", metavar="N", min=1, help="How many are timed.")] = 200,
    frames: Annotated[int, Option("--frames", metavar="N", min=2, help="How many are timed.")] = 40,
    sample: Annotated[int, Option("--sample", metavar="N", min=1, help="How many texts are embedded.")] = 3000,
    progress: Progress,
) -> BenchResult:
    """Fill stores with paragraphs of the books, varied until there are enough, and query them with sentences of the
    books. Times search, the SESSION frame, the first search after a change and opening, beside bm25s with NumPy and the
    database's own scan; and one search of the first store in a fresh process, by words and with vectors.

    Without --work the stores are deleted afterwards. A million blocks take about 12 GiB of disk and half an hour.
    """
    import tempfile

    from benchmarks.search import Effort, run

    sizes = sizes_of(blocks)
    effort = Effort(questions, frames, sample)
    with tempfile.TemporaryDirectory() as temporary:
        cold = ("--model", engine.model_spec)
        return run(memory_rig(engine, progress), data, sizes, work or Path(temporary), effort=effort, cold=cold)


@bench("metrics", summary="Measure the six success metrics on labelled questions.", example="metrics --data locomo")
def bench_metrics(
    engine: Engine,
    *,
    data: Annotated[
        Path | None, Option("--data", metavar="DIR", help="Notes with questions.jsonl; else the sample.")
    ] = None,
    progress: Progress,
) -> BenchResult:
    """Use a memory for some days with two thirds of the questions and recalibrate it by their labels; the last third
    is asked only afterwards. Reports precision, recall, coherence, graph stability, Brier score and attention
    stability.
    """
    from benchmarks.metrics import run

    return run(memory_rig(engine, progress), engine.corpus.path if data is None else data)


@bench(
    "inference",
    summary="Measure what is concluded from foreign documents.",
    example="inference --data questions.json --labels labels.json",
)
def bench_inference(
    engine: Engine,
    *,
    data: Annotated[Path, Option("--data", metavar="DIR", help="A folder of documents that nobody here wrote.")],
    labels: Annotated[
        Path | None, Option("--labels", metavar="FILE", help="What a reader said of findings and categories.")
    ] = None,
    progress: Progress,
) -> BenchResult:
    """Consolidate the documents with planted pairs of notes among them that supersede or contradict each other.

    Prints precision and recall of what is shown as sure, the share of names that are debris, and how often categories
    agree with the labels; lists what was found among the documents for reading.
    """
    from amgs_app.models.choice import text_models
    from benchmarks.inference import run

    _, recogniser, _ = text_models(engine.model_spec, engine.settings.model, lambda: None)
    return run(memory_rig(engine, progress), data, recogniser, labels)


@bench("tui", summary="Measure how quickly the screen responds.", example="tui --rows 10000")
def bench_tui(
    engine: Engine,
    *,
    rows: Annotated[int, Option("--rows", metavar="N", min=1, help="Rows of the long table.")] = 100_000,
    acts: Annotated[int, Option("--acts", metavar="N", min=1, help="Actions in the hour of use.")] = 600,
    progress: Progress,
) -> BenchResult:
    """Run the program in its own terminals and press keys: at start, while models load, while it decodes and a
    consolidation runs, over a long table, and for an hour of use; also draw the map of a million tokens.

    Uses the session's model (`--model`), and stores in a temporary folder.
    """
    from benchmarks.bench_results import Rig
    from benchmarks.tui import run

    return run(Rig(progress=progress, seed=engine.seed), engine.model_spec, rows=rows, acts=acts)


@bench(
    "cold",
    summary="Measure how long a first start takes until there is something to read.",
    example="cold --rounds 3 --words-only",
)
def bench_cold(
    engine: Engine,
    *,
    rounds: Annotated[int, Option("--rounds", metavar="N", min=1, help="Starts of each kind.")] = 5,
    words_only: Annotated[
        bool, Option("--words-only", help="Load no language model: no context is opened, no token decoded.")
    ] = False,
    uncached: Annotated[
        bool, Option("--uncached", help="Once more with the program's files out of the system's cache.")
    ] = False,
    progress: Progress,
) -> BenchResult:
    """Start the program anew in a terminal of its own, on the sample, with no store and no settings before: until the
    first paint, until the answer to the sample's question is drawn, until a question typed then has its frame, until
    the first token is decoded; and one search on the command line, by all layers and by words alone.

    All times count from the start of the process; processor time stands beside them. The control is an empty store: it
    is painted as soon, and the answer must not be seen there.
    """
    from benchmarks.bench_results import Rig
    from benchmarks.cold import run

    return run(Rig(progress=progress, seed=engine.seed), rounds=rounds, tokens=not words_only, uncached=uncached)


@bench(
    "ingest", summary="Measure ingesting and consolidating many blocks.", example="ingest --data books --blocks 10000"
)
def bench_ingest(
    engine: Engine,
    *,
    data: Annotated[Path, Option("--data", metavar="DIR", help="A folder of books, as .txt files.")],
    blocks: Annotated[int, Option("--blocks", metavar="N", min=1, help="How many blocks.")] = 100_000,
    sample: Annotated[int, Option("--sample", metavar="N", min=1, help="How many of them use the real models.")] = 2048,
    documents: Annotated[
        Path | None, Option("--documents", metavar="DIR", help="Also plan the enhancement of these.")
    ] = None,
    progress: Progress,
) -> BenchResult:
    """Ingest paragraphs of the books, update the keyword index, and consolidate: all but a sample with stub models,
    then the sample with the real models into the same store.

    The real models are loaded throughout; peak memory is that of the whole process. With --documents, a memory of
    these is consolidated and the planning of its enhancement timed.
    """
    from benchmarks.bench_results import Rig
    from benchmarks.ingest import run

    told = engine.settings.model
    models = {"embedder": told.embedder, "recogniser": told.recogniser}
    rig = Rig(progress=progress, seed=engine.seed)
    return run(rig, data, blocks=blocks, sample=sample, model=engine.model_spec, models=models, documents=documents)


@bench("figures", summary="Measure again what the pages of results print.", example="figures --data DIR --only search")
def bench_figures(
    engine: Engine,
    *,
    data: Annotated[Path, Option("--data", metavar="DIR", help="A folder with locomo/, documents/ and others.")],
    only: Annotated[str | None, Option("--only", metavar="PAGE", help="A page of docs/results.")] = None,
    progress: Progress,
) -> FiguresChecked:
    """Run each benchmark that a page of results names in a comment beside its figures, and hold what it finds against
    what is printed. Some minutes for each; exit code 1 where a figure does not reproduce or could not be measured.
    """
    from benchmarks.commands import registry
    from benchmarks.figures import check_figures, choose_pages

    def measure(line: str) -> Mapping[str, float]:
        call = registry().parse(line)
        if call is None:
            return {}
        places = {name: data / value for name, value in call.arguments.items() if isinstance(value, Path)}
        metrics: Mapping[str, float] = call.having(**places).apply(engine, progress).metrics
        return metrics

    return check_figures(choose_pages(only), measure)
