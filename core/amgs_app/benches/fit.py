"""Fit the weights of the similarity and of the abstention to labelled questions, and say how honest they are.

    python -m amgs_app.benches.fit --locomo DIR [--notes DIR]

Writes the constants for `amgs.retrieval.similarity` and `amgs.retrieval.answerable` to stdout, the figures of
leave-one-corpus-out to stderr. A corpus is one conversation, or one folder of notes with its questions.
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.calibration.listwise import LabelledRows, fit_logistic, fit_ranking
from amgs.memory import Memory
from amgs.retrieval.answerable import SIGNS, signs
from amgs.retrieval.features import FEATURES, Features
from amgs.text.embedding import Embedder
from amgs.text.minilm import MiniLM
from amgs_app.benches.locomo_data import read_folder
from amgs_app.benches.measures import auroc
from amgs_app.benches.stores import (
    SourcedQuestion,
    block_ids,
    conversation_questions,
    conversation_store,
    notes_now,
    notes_questions,
    notes_store,
)

Weights = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ObservedQuestion:
    """What a search knew of one question: its evidence, (m,) which candidates are relevant, and how many
    relevant blocks there are in the store.
    """

    question: SourcedQuestion
    evidence: Features
    relevant: NDArray[np.bool_]
    total: int


def corpora(
    locomo: Path | None, notes: Path | None, embedder: Embedder
) -> Iterator[tuple[str, list[ObservedQuestion]]]:
    """Each corpus by name with what a search knows of each of its questions."""
    for conversation in read_folder(locomo) if locomo is not None else ():
        with conversation_store(conversation, embedder) as memory:
            yield conversation.name, look(memory, conversation_questions(conversation))
    if notes is not None:
        with notes_store(notes, notes_now(notes), embedder) as memory:
            yield notes.name, look(memory, notes_questions(notes / "questions.jsonl"))


def look(memory: Memory, questions: Sequence[SourcedQuestion]) -> list[ObservedQuestion]:
    """The evidence of every question; one that nothing at all is found for is left out."""
    seen = []
    for question in questions:
        wanted = {i for ids in block_ids(memory, question.sources) for i in ids}
        gathered = memory.gather(question.text)
        if gathered.evidence is not None:
            ids = gathered.scored.facts.ids
            relevant = np.array([str(i) in wanted for i in ids], dtype=np.bool_)
            seen.append(ObservedQuestion(question, gathered.evidence, relevant, len(wanted)))
    return seen


def taught(seen: Sequence[ObservedQuestion]) -> list[LabelledRows]:
    """What the ranking can learn from: questions that have an answer in the store."""
    return [LabelledRows(one.evidence.values, one.relevant) for one in seen if one.relevant.any()]


def recall(seen: Sequence[ObservedQuestion], weights: Weights, depth: int = 10) -> dict[str, list[float]]:
    """Recall at a depth of each question with an answer, by its kind."""
    found: dict[str, list[float]] = defaultdict(list)
    for one in seen:
        if one.total:
            best = np.argsort(-(one.evidence.values @ weights), kind="stable")[:depth]
            found[one.question.kind].append(float(one.relevant[best].sum()) / one.total)
    return found


def signs_of(
    seen: Sequence[ObservedQuestion], weights: Weights
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """(n, s) signs under the weights, and (n,) whether each question has an answer."""
    rows = np.array([signs(one.evidence, weights) for one in seen])
    return rows, np.array([one.question.answerable for one in seen], dtype=np.bool_)


def left_out(data: Mapping[str, list[ObservedQuestion]]) -> None:
    """Say for each corpus what weights fitted on all the others reach there."""
    for name, seen in data.items():
        rest = [one for other, many in data.items() if other != name for one in many]
        weights = fit_ranking(taught(rest))
        kinds = recall(seen, weights)
        every = [value for values in kinds.values() for value in values]
        by_kind = ", ".join(f"{kind} {100 * np.mean(values):.1f}" for kind, values in sorted(kinds.items()))
        rows, labels = signs_of(rest, weights)
        mean, scale = scaled(rows)
        doubt, intercept = fit_logistic((rows - mean) / scale, labels)
        own, truth = signs_of(seen, weights)
        ours = auroc(((own - mean) / scale) @ doubt + intercept, truth)
        _say(f"{name}: recall@10 {100 * np.mean(every):.1f} ({by_kind}); AUROC of abstention {ours:.3f}")


def constants(data: Mapping[str, list[ObservedQuestion]]) -> str:
    """The Python constants fitted on everything."""
    everything = [one for many in data.values() for one in many]
    weights = fit_ranking(taught(everything))
    # Rounded first, so that the abstention is fitted to the very weights that will run.
    weights = np.round(weights, 3)
    rows, labels = signs_of(everything, weights)
    mean, scale = scaled(rows)
    doubt, intercept = fit_logistic((rows - mean) / scale, labels)
    raw = doubt / scale
    lines = ["WEIGHTS: Mapping[str, float] = {"]
    lines += [f'    "{name}": {value:g},' for name, value in zip(FEATURES, weights, strict=True)]
    lines += ["}", "", "WEIGHTS_OF_SIGNS: Mapping[str, float] = {"]
    lines += [f'    "{name}": {value:.4g},' for name, value in zip(SIGNS, raw, strict=True)]
    lines += ["}", f"INTERCEPT = {intercept - float(raw @ mean):.4g}"]
    return "\n".join(lines) + "\n"


def scaled(rows: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Mean and spread (s,) of the signs, by which they are brought to one scale; a sign that never varies
    keeps 1.
    """
    spread = rows.std(axis=0)
    return rows.mean(axis=0), np.where(spread > 0, spread, 1.0)


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--locomo", type=Path, help="a folder of conversations in LoCoMo's format")
    parser.add_argument("--notes", type=Path, help="a folder of notes with questions.jsonl and corpus.toml")
    given = parser.parse_args(arguments)
    data = dict(corpora(given.locomo, given.notes, MiniLM()))
    left_out(data)
    sys.stdout.write(constants(data))


if __name__ == "__main__":
    main()
