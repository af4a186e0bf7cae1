"""`conversation`: every subject whose data is there, one after the other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from amgs.errors import InputError, UsageError
from amgs.extras import install_line, is_installed
from benchmarks.bench_results import Bench, BenchResult, BenchTable, Measure, MemoryRig, SubjectResult, joined, measured
from benchmarks.conversation.answers import QUESTIONS, measure_answers
from benchmarks.conversation.coreference import measure_coreference
from benchmarks.conversation.dates import measure_dates
from benchmarks.conversation.evidence import measure_evidence
from benchmarks.conversation.protection import measure_protection
from benchmarks.conversation.segments import measure_segments
from benchmarks.conversation.survival import measure_survival

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel

BENCH = Bench("conversation")
SUBJECTS: Mapping[str, Measure] = {
    "coreference": measure_coreference,
    "dates": measure_dates,
    "evidence": measure_evidence,
    "protection": measure_protection,
    "segments": measure_segments,
}
"""By name; None where the folder lacks the data of a subject."""
ANSWERS = "answers"


def run(
    rig: MemoryRig,
    data: Path,
    model: Callable[[], BaseModel] | None = None,
    questions: int = QUESTIONS,
    *,
    only: Sequence[str] = (),
    abstractive: bool = False,
) -> BenchResult:
    """Measure what a folder has data for; raises InputError when it has none.

    model: gives the language model that judges answers to so many questions; without it none are judged. only: these
    of `SUBJECTS`, or "answers", and nothing else; raises UsageError for another name. abstractive: answers are judged
    after the model's own summaries, too.
    """
    unknown = [name for name in only if name not in (*SUBJECTS, ANSWERS)]
    if unknown:
        names = ", ".join((*SUBJECTS, ANSWERS))
        raise UsageError(f"There is no subject {unknown[0]!r}.", way_out=f"One of: {names}.")
    found = measured(rig, data, {name: SUBJECTS[name] for name in only if name in SUBJECTS} if only else SUBJECTS)
    if model is not None and (not only or ANSWERS in only):
        rig.progress(len(SUBJECTS), len(SUBJECTS), ANSWERS)
        judged = _judged(rig, data, model, questions, abstractive=abstractive)
        if judged is not None:
            found[ANSWERS] = judged
    if not found:
        raise InputError(
            f"{data} holds no data that conversations are measured with.",
            way_out="Give --data the folder that holds coref/, temporal/, segmentation/, locomo/ and the rest.",
        )
    if not only:
        rig.progress(len(SUBJECTS), len(SUBJECTS), "survival")
        found["survival"] = measure_survival(rig)
    every = joined(found.values())
    return BENCH.result({"subjects": list(found)}, dict(every.metrics), every.tables, goals=dict(every.goals))


def _judged(
    rig: MemoryRig, data: Path, model: Callable[[], BaseModel], questions: int, *, abstractive: bool
) -> SubjectResult | None:
    """What answers to questions lose; a sentence instead where there is no model to say it."""
    if not is_installed("torch"):
        told = f"No language model is installed: {install_line('focus')}"
        return SubjectResult({}, tables=(BenchTable("Answers", ("not run",), ((told,),)),))
    from amgs_focus.errors import ModelMissingError

    try:
        return measure_answers(rig, data, model, questions, abstractive=abstractive)
    except ModelMissingError as error:
        return SubjectResult({}, tables=(BenchTable("Answers", ("not run",), ((str(error),),)),))
