"""Where the time of a search and of a frame goes: processor time by stage, from samples of the running program."""

from __future__ import annotations

import signal
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import FrameType
from typing import Final

from amgs.memory import Memory
from amgs_app.render.encode import compact
from benchmarks.bench_results import BenchTable

STAGES: Final[Mapping[str, str]] = {
    "/amgs/text/bert.py": "embedding",
    "/amgs/storage/": "SQL",
    "/amgs/text/language_model.py": "token counts",
    "/amgs_app/render/": "encoding",
    "/amgs/retrieval/passage_finder.py": "passages",
    "/amgs/index/keyword.py": "words",
    "/amgs/index/lexical.py": "words",
    "/amgs/index/vector.py": "vectors",
    "/amgs/retrieval/features.py": "evidence",
    "/amgs/retrieval/text_features.py": "evidence",
    "/amgs/graph/": "graph",
    "/amgs/frames/": "frame",
    "/amgs/calibration/": "log",
}
"""Parts of a path, and the stage of what runs in such a file or is called from there; the innermost decides."""
REST: Final = "the rest"
_EVERY: Final = 0.001
"""Seconds of processor time between two samples."""


def stages_of(work: Callable[[str], object], questions: Sequence[str]) -> dict[str, float]:
    """Milliseconds of processor time that work takes for a question, by stage, and `all`. In the main thread alone."""
    seen: Counter[str] = Counter()

    def sample(_: int, frame: FrameType | None) -> None:
        while frame is not None:
            path = frame.f_code.co_filename
            stage = next((name for part, name in STAGES.items() if part in path), "")
            if stage:
                break
            frame = frame.f_back
        seen[stage if frame is not None else REST] += 1

    before = signal.signal(signal.SIGPROF, sample)
    begun = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, _EVERY, _EVERY)
    try:
        for question in questions:
            work(question)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
    each = 1000.0 * (time.process_time() - begun) / len(questions)
    whole = max(sum(seen.values()), 1)
    return {"all": each, **{stage: each * count / whole for stage, count in seen.most_common()}}


def stage_table(memory: Memory, questions: Sequence[str]) -> BenchTable:
    """A search, an assembly that is logged, and their answers as JSON; each question is asked once."""
    half = len(questions) // 2

    def search(question: str) -> str:
        return compact(memory.search(question))

    def assemble(question: str) -> str:
        frame = memory.assemble("ATTENTION", query=question)
        return compact(frame.selected)

    for question in questions[:3]:
        search(question)
        assemble(question)
    found = {"search": stages_of(search, questions[3:half]), "ATTENTION": stages_of(assemble, questions[half:])}
    names = list(dict.fromkeys(name for each in found.values() for name in each))
    rows: tuple[tuple[str | float, ...], ...] = tuple(
        (name, *(each.get(name, 0.0) for each in found.values())) for name in names
    )
    return BenchTable("Milliseconds of processor time by stage", ("stage", *found), rows)
