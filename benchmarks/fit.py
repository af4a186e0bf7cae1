"""Fit the weights of the similarity to labelled questions, and say how honest they are.

    python -m benchmarks.fit --dialogues DIR --chats DIR --multihop DIR --notes DIR --packages

Writes the constants for `amgs.retrieval.similarity` to stdout; to stderr what weights reach that were fitted without a
corpus, and without its whole form. A corpus is one conversation, one pool of
paragraphs, one folder of notes with its questions, or the descriptions of the Python packages that are installed.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import distributions
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.retrieval.features import FEATURES, Features
from amgs.text.embedding import Embedder
from amgs.text.minilm import MiniLM
from benchmarks.documents import project
from benchmarks.listwise import LabelledRows, fit_ranking
from benchmarks.locomo_data import read_folder
from benchmarks.multihop import read_sets
from benchmarks.stores import (
    STILL,
    SourcedQuestion,
    block_ids,
    conversation_questions,
    conversation_store,
    drafts_store,
    notes_now,
    notes_questions,
    notes_store,
)

Weights = NDArray[np.float64]

DIALOGUES, CHATS, PACKAGES, MULTIHOP, NOTES = "dialogues", "chats", "packages", "multihop", "notes"
COUNTS: Mapping[str, float] = {DIALOGUES: 2.0, CHATS: 2.0, PACKAGES: 1.0, MULTIHOP: 0.7, NOTES: 0.7}
"""How much all questions of a form count together. Turns have the most features of their own."""

RIDGE = 1e-2
FALLING = ("other_role", "no_answer", "asking")
"""What may speak against a block; no other feature may."""

_LEAST_DESCRIPTION = 400


@dataclass(frozen=True, eq=False)
class ObservedQuestion:
    """What a search knew of one question: its evidence, (m,) which candidates are relevant, and how many
    relevant blocks there are in the store. form: of COUNTS.
    """

    question: SourcedQuestion
    evidence: Features
    relevant: NDArray[np.bool_]
    total: int
    form: str = DIALOGUES


@dataclass(frozen=True)
class FitData:
    """Where the labelled corpora are; what is None is left out."""

    dialogues: Path | None = None
    chats: Path | None = None
    multihop: Path | None = None
    notes: Path | None = None
    packages: bool = False


def corpora(data: FitData, embedder: Embedder) -> Iterator[tuple[str, list[ObservedQuestion]]]:
    """Each corpus by name with what a search knows of each of its questions."""
    for form, folder in ((DIALOGUES, data.dialogues), (CHATS, data.chats)):
        for conversation in read_folder(folder) if folder is not None else ():
            with conversation_store(conversation, embedder) as memory:
                yield f"{form} {conversation.name}", look(memory, conversation_questions(conversation), form)
    for pool in read_sets(data.multihop) if data.multihop is not None else ():
        with drafts_store(pool.drafts, STILL, embedder) as memory:
            yield f"{MULTIHOP} {pool.name}", look(memory, pool.questions, MULTIHOP)
    if data.packages:
        drafts, questions = packages()
        with drafts_store(drafts, STILL, embedder) as memory:
            yield PACKAGES, look(memory, questions, PACKAGES)
    if data.notes is not None:
        with notes_store(data.notes, notes_now(data.notes), embedder) as memory:
            asked = notes_questions(data.notes / "questions.jsonl")
            yield f"{NOTES} {data.notes.name}", look(memory, asked, NOTES)


def packages() -> tuple[Sequence[RawBlock], Sequence[SourcedQuestion]]:
    """The descriptions of the installed Python packages as documents, each asked for by its headings ("HEADING in
    PACKAGE") and by its one-line summary, in which its name is masked.
    """
    texts: dict[str, str] = {}
    summaries: dict[str, str] = {}
    for one in sorted(distributions(), key=lambda d: str(d.metadata["Name"]).lower()):
        name, about = str(one.metadata["Name"]), one.metadata.json
        text = str(about.get("description") or "")
        if len(text) < _LEAST_DESCRIPTION:
            continue
        texts[f"{name.lower()}.md"] = text
        if about.get("summary"):
            masked = re.sub(re.escape(name), "it", str(about["summary"]), flags=re.IGNORECASE)
            summaries[f"{name.lower()}.md"] = masked
    made = project(PACKAGES, texts.items(), {source: source.removesuffix(".md") for source in texts})
    asked = [SourcedQuestion(q.text, "heading", q.sources, True) for q in made.questions]
    asked += [SourcedQuestion(text, "summary", (source,), True) for source, text in summaries.items()]
    return made.drafts, asked


def look(memory: Memory, questions: Sequence[SourcedQuestion], form: str) -> list[ObservedQuestion]:
    """The evidence of every question; one that nothing at all is found for is left out."""
    seen = []
    for question in questions:
        wanted = {i for ids in block_ids(memory, question.sources) for i in ids}
        gathered = memory.gather(question.text)
        if gathered.evidence is not None:
            ids = gathered.scored.facts.ids
            relevant = np.array([str(i) in wanted for i in ids], dtype=np.bool_)
            seen.append(ObservedQuestion(question, gathered.evidence, relevant, len(wanted), form))
    return seen


def ranking_weights(seen: Sequence[ObservedQuestion]) -> Weights:
    """The weights (k,) fitted to questions, every form counted as COUNTS says, however many questions it has."""
    taught = [one for one in seen if one.relevant.any()]
    many = {form: sum(one.form == form for one in taught) for form in COUNTS}
    rows = [LabelledRows(one.evidence.values, one.relevant, COUNTS[one.form] / many[one.form]) for one in taught]
    rising = [place for place, name in enumerate(FEATURES) if name not in FALLING]
    return fit_ranking(rows, ridge=RIDGE, rising=rising)


def recall(seen: Sequence[ObservedQuestion], weights: Weights, depth: int = 10) -> dict[str, list[float]]:
    """Recall at a depth of each question with an answer, by its kind."""
    found: dict[str, list[float]] = defaultdict(list)
    for one in seen:
        if one.total:
            best = np.argsort(-(one.evidence.values @ weights), kind="stable")[:depth]
            found[one.question.kind].append(float(one.relevant[best].sum()) / one.total)
    return found


def left_out(data: Mapping[str, list[ObservedQuestion]]) -> None:
    """Say for each corpus what weights fitted on all the others reach there, and what weights do that were fitted
    on the other forms alone.
    """
    everything = [one for many in data.values() for one in many]
    for name, seen in data.items():
        own = seen[0].form
        rest = [one for other, many in data.items() if other != name for one in many]
        for told, others in (("it", rest), (f"all {own}", [one for one in everything if one.form != own])):
            if others:
                _say(f"{name}, fitted without {told}: {_reached(seen, others)}")


def _reached(seen: Sequence[ObservedQuestion], others: Sequence[ObservedQuestion]) -> str:
    """The figures of a corpus under what the others teach."""
    weights = ranking_weights(others)
    kinds = recall(seen, weights)
    every = [value for values in kinds.values() for value in values]
    by_kind = ", ".join(f"{kind} {100 * np.mean(values):.1f}" for kind, values in sorted(kinds.items()))
    return f"recall@10 {100 * np.mean(every):.1f} ({by_kind})"


def constants(data: Mapping[str, list[ObservedQuestion]]) -> str:
    """The Python constants fitted on everything."""
    weights = np.round(ranking_weights([one for many in data.values() for one in many]), 3)
    lines = ["WEIGHTS: Mapping[str, float] = {"]
    lines += [f'    "{name}": {value:g},' for name, value in zip(FEATURES, weights, strict=True)]
    return "\n".join([*lines, "}"]) + "\n"


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dialogues", type=Path, help="a folder of conversations in LoCoMo's format")
    parser.add_argument("--chats", type=Path, help="a folder of real chats in the same format")
    parser.add_argument("--multihop", type=Path, help="a folder with hotpotqa.json and musique.json")
    parser.add_argument("--notes", type=Path, help="a folder of notes with questions.jsonl and corpus.toml")
    parser.add_argument("--packages", action="store_true", help="descriptions of the installed packages")
    given = FitData(**vars(parser.parse_args(arguments)))
    data = dict(corpora(given, MiniLM()))
    left_out(data)
    sys.stdout.write(constants(data))


if __name__ == "__main__":
    main()
