"""How far the estimate that a memory holds an answer may be believed, form by form.

    python -m benchmarks.answerable --dialogues DIR --chats DIR --multihop DIR --notes DIR --packages
        --documents DIR

Each corpus is asked questions of its own and as many of the others, which it cannot answer. Printed are, by corpus and
by form of the best block, the AUROC and the calibration error of the estimate, and beside them the AUROC of the
greatest cosine; the AUROC where the questions without an answer are the corpus's own; and, of all these questions, to
how many it is said that an answer is likely, or that there is no sign of one, and how many of those have one.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.retrieval.similarity import LIKELY, UNLIKELY, answerable, form_of
from amgs.retrieval.sources import FORMS
from amgs.text.embedding import Embedder
from amgs.text.minilm import MiniLM
from benchmarks.documents import read_projects
from benchmarks.fit import FitData, packages
from benchmarks.locomo_data import read_folder
from benchmarks.measures import auroc
from benchmarks.multihop import read_sets
from benchmarks.stores import (
    STILL,
    SourcedQuestion,
    conversation_questions,
    conversation_store,
    drafts_store,
    notes_now,
    notes_questions,
    notes_store,
)

Vector = NDArray[np.float64]

BINS = 5
"""Of equal count: the calibration error is the mean distance of a bin's estimates from the share that had an answer."""

ANSWERED, FOREIGN, OWN = 0, 1, 2


@dataclass(frozen=True)
class AnsweringCorpus:
    """A store to be opened, its questions that have an answer there and none anywhere else, and those without one."""

    name: str
    store: AbstractContextManager[Memory]
    questions: tuple[str, ...]
    silent: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class AskedCorpus:
    """Of each question (n,): the estimate, the greatest cosine, the form of the best block, and whether it is
    ANSWERED, asked of another corpus (FOREIGN), or the corpus's OWN without an answer.
    """

    name: str
    estimates: Vector
    cosines: Vector
    form: NDArray[np.int8]
    kind: NDArray[np.int8]


def calibration_error(estimates: Vector, truth: NDArray[np.bool_]) -> float:
    """Mean |estimate − share| over BINS bins of equal count, weighed by their size."""
    order = np.argsort(estimates, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if part.size]
    return float(sum(abs(estimates[p].sum() - truth[p].sum()) for p in parts) / max(1, order.size))


def told(chosen: NDArray[np.bool_], truth: NDArray[np.bool_]) -> str:
    """To how many questions something is said, and the share of them that has an answer, in percent."""
    many = int(chosen.sum())
    return f"{many}, {100 * truth[chosen].mean():.0f}" if many else "0"


def corpora(
    data: FitData, documents: Path | None, embedder: Embedder, most: int, seed: int
) -> Iterator[AnsweringCorpus]:
    """The corpora of a fit, the package manuals cut down to `most` files, and projects of documents, whose headings
    are asked as they stand; up to `most` questions of each kind.
    """
    draw = random.Random(seed)

    def some(questions: Sequence[str]) -> tuple[str, ...]:
        return tuple(draw.sample(questions, min(most, len(questions))))

    def parted(questions: Sequence[SourcedQuestion]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        known = [q.text for q in questions if q.answerable]
        return some(known), some([q.text for q in questions if not q.answerable])

    for kind, folder in (("dialogue", data.dialogues), ("chat", data.chats)):
        for one in read_folder(folder) if folder is not None else ():
            store = conversation_store(one, embedder)
            yield AnsweringCorpus(f"{kind} {one.name}", store, *parted(conversation_questions(one)))
    for pool in read_sets(data.multihop) if data.multihop is not None else ():
        store = drafts_store(pool.drafts, STILL, embedder)
        yield AnsweringCorpus(f"paragraphs {pool.name}", store, *parted(pool.questions))
    if data.packages:
        drafts, questions = packages()
        files = sorted({_file(str(d.meta["source"])) for d in drafts})
        kept = set(some(files))
        texts: list[RawBlock] = [d for d in drafts if _file(str(d.meta["source"])) in kept]
        own = [q for q in questions if {_file(source) for source in q.sources} & kept]
        yield AnsweringCorpus("package manuals", drafts_store(texts, STILL, embedder), *parted(own))
    for project in read_projects(documents) if documents is not None else ():
        store = drafts_store(project.drafts, STILL, embedder)
        headings = [q.text.removesuffix(f" in {project.name}") for q in project.questions]
        yield AnsweringCorpus(f"documents {project.name}", store, some(headings))
    if data.notes is not None:
        store = notes_store(data.notes, notes_now(data.notes), embedder)
        asked = notes_questions(data.notes / "questions.jsonl")
        yield AnsweringCorpus(f"notes {data.notes.name}", store, *parted(asked))


def _file(source: str) -> str:
    return source.partition("#")[0]


def ask(corpus: AnsweringCorpus, others: Sequence[str], seed: int) -> AskedCorpus:
    """Its own questions, and as many drawn from the others'; one that finds nothing at all is left out."""
    foreign = random.Random(seed).sample(list(others), min(len(others), len(corpus.questions)))
    rows = []
    with corpus.store as memory:
        for kind, questions in ((ANSWERED, corpus.questions), (FOREIGN, foreign), (OWN, corpus.silent)):
            for text in questions:
                evidence = memory.gather(text).evidence
                if evidence is not None and evidence.numbers.size:
                    rows.append((answerable(evidence), float(evidence.cosine.max()), form_of(evidence), kind))
    return AskedCorpus(
        corpus.name,
        np.array([r[0] for r in rows]),
        np.array([r[1] for r in rows]),
        np.array([r[2] for r in rows], dtype=np.int8),
        np.array([r[3] for r in rows], dtype=np.int8),
    )


def report(asked: Sequence[AskedCorpus]) -> str:
    """A Markdown table: a row a corpus, a row a form of text, and all together."""
    names = np.concatenate([[one.name] * one.kind.size for one in asked])
    kind = np.concatenate([one.kind for one in asked])
    estimates = np.concatenate([one.estimates for one in asked])
    cosines = np.concatenate([one.cosines for one in asked])
    form = np.concatenate([one.form for one in asked])
    groups = [(one.name, names == one.name) for one in asked]
    groups += [(f"form: {one}", form == place) for place, one in FORMS.items()]
    groups.append(("all", np.ones(kind.size, dtype=np.bool_)))
    lines = [
        "| | questions | AUROC | by cosine alone | error | own without an answer | AUROC | likely, % | no sign, % |",
        "| --- |" + " ---: |" * 8,
    ]
    for name, rows in groups:
        foreign, own = rows & (kind != OWN), rows & (kind != FOREIGN)
        truth = kind == ANSWERED
        if len(set(truth[foreign])) < 2:
            continue
        cells = [
            auroc(estimates[foreign], truth[foreign]),
            auroc(cosines[foreign], truth[foreign]),
            calibration_error(estimates[foreign], truth[foreign]),
        ]
        silent = int((rows & (kind == OWN)).sum())
        last = [str(silent), f"{auroc(estimates[own], truth[own]):.2f}"] if silent else ["", ""]
        last += [told(rows & (estimates >= LIKELY), truth), told(rows & (estimates < UNLIKELY), truth)]
        shown = [str(int(foreign.sum())), *(f"{cell:.2f}" for cell in cells), *last]
        lines.append(f"| {name} | {' | '.join(shown)} |")
    return "\n".join(lines) + "\n"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dialogues", type=Path, help="a folder of conversations in LoCoMo's format")
    parser.add_argument("--chats", type=Path, help="a folder of real chats in the same format")
    parser.add_argument("--multihop", type=Path, help="a folder with hotpotqa.json and musique.json")
    parser.add_argument("--notes", type=Path, help="a folder of notes with questions.jsonl and corpus.toml")
    parser.add_argument("--documents", type=Path, help="a folder of projects, each a folder of Markdown")
    parser.add_argument("--packages", action="store_true", help="descriptions of the installed packages")
    parser.add_argument("--most", type=int, default=60, help="questions of each corpus, and packages")
    parser.add_argument("--seed", type=int, default=0)
    given = vars(parser.parse_args(arguments))
    most, seed = int(given.pop("most")), int(given.pop("seed"))
    documents = given.pop("documents")
    found = list(corpora(FitData(**given), documents, MiniLM(), most, seed))
    asked = []
    for one in found:
        others = [q for other in found if other is not one for q in other.questions]
        asked.append(ask(one, others, seed))
        sys.stderr.write(f"{one.name}: {asked[-1].kind.size} questions\n")
    sys.stdout.write(report(asked))


if __name__ == "__main__":
    main()
