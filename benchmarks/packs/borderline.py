"""The sentences near the border of 1/6.3 of the tokens, settled by a frozen model: does that keep more of what answers?

The band is up to six units, half of them kept otherwise; all else stays as it is, and so do the tokens. What settles is
how much likelier each makes the first tokens that the model itself answers with, which is what a reading can know. The
controls are chance and BM25 within the band, the same for the question in place of an answer, and for the answer of
another question; the known answer, and what supports first, are ceilings.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING

import numpy as np

from amgs.identity import block_id
from amgs.packs.borderline import FIRST, band, dealt, gains, line
from amgs.packs.sentence_relevance import WEIGHTS
from amgs.text.answer_reader import AnswerReader
from amgs_app.models.answer_reader import LoadedReader
from benchmarks.bench_results import BenchTable, Comparator
from benchmarks.packs import pruning_data
from benchmarks.packs.pruning import AskedUnits, Floats, ask, row_of
from benchmarks.rig import MemoryRig
from benchmarks.stores import STILL, drafts_store
from benchmarks.subject import SubjectResult

if TYPE_CHECKING:
    from amgs_focus.model.base_model import BaseModel

OFF, FIRST_WORDS, QUESTION = "not settled", "by the first tokens of its answer", "by the question"
OTHER, RANDOM, BM25 = "by the answer of another question", "at random", "by BM25"
KNOWN, CEILING = "by the known answer", "ceiling: what supports first"
METHODS = (OFF, FIRST_WORDS, QUESTION, OTHER, RANDOM, BM25, KNOWN, CEILING)
_WORDS = dict(
    zip(METHODS, ("off", "first", "question", "other", "random", "bm25", "known", "ceiling"), strict=True)
)
GOALS: Mapping[str, tuple[Comparator, float]] = {
    "borderline_hotpotqa_gain_low": (">=", 0.0),
    "borderline_musique_gain_low": (">=", 0.0),
}
_DRAWS = 10


def measure_borderline(
    rig: MemoryRig, data: Path, model: Callable[[], BaseModel] | None = None, questions: int = 0
) -> SubjectResult | None:
    """So many questions of each set that a folder has; None where it has none, or no model is given."""
    if model is None or not questions:
        return None
    reader = LoadedReader(model)
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for name in ("hotpotqa", "musique"):
        given = [one for one in pruning_data.read(data, name) if any(u.supports for u in one.units)]
        given = [one for one in given if one.answer][:questions]
        if not given:
            continue
        drafts = {block_id(draft.content): draft for one in given for draft in one.paragraphs}
        kept: dict[str, list[float]] = defaultdict(list)
        seconds = []
        with drafts_store(drafts.values(), STILL, rig.embedder) as memory:
            for place, one in enumerate(given):
                rig.progress(place, len(given), f"borderline {name}")
                asked = ask(memory, one, rig.count_tokens)
                other = given[(place + 1) % len(given)].answer
                found, spent = _settled(asked, other, reader, np.random.default_rng(rig.seed + place))
                seconds.append(spent / float(asked.costs.sum()) * 512)
                for method, share in found.items():
                    kept[method].append(share)
        rows += [row_of(name, method, kept[method], rig.seed) for method in METHODS]
        metrics |= {f"borderline_{name}_{_WORDS[method]}": float(np.mean(kept[method])) for method in METHODS}
        gain = np.array(kept[FIRST_WORDS]) - np.array(kept[OFF])
        drawn = np.random.default_rng(rig.seed).choice(gain, (1000, gain.size)).mean(axis=1)
        metrics[f"borderline_{name}_gain_low"] = float(np.quantile(drawn, 0.025))
        metrics[f"borderline_{name}_gain_high"] = float(np.quantile(drawn, 0.975))
        metrics[f"borderline_{name}_seconds_512"] = float(np.mean(seconds))
    if not rows:
        return None
    columns = ("set", "the band is settled", "questions", "kept", "95 %", "all of it")
    table = BenchTable("Sentences near the border of 1/6.3 of the tokens, percent kept", columns, tuple(rows))
    return SubjectResult(metrics, {k: v for k, v in GOALS.items() if k in metrics}, (table,))


def _settled(
    asked: AskedUnits, other: str, reader: AnswerReader, chance: np.random.Generator
) -> tuple[dict[str, float], float]:
    """What each method keeps, and the processor seconds of the one that ships."""
    question = asked.question
    worths = asked.matrix @ np.array(list(WEIGHTS.values()))
    kept = asked.held(worths)
    places = band(worths, kept)

    def by(judged: Floats) -> float:
        return asked.kept(dealt(worths, places, judged))

    lines = [line(asked.units[n]) for n in places]
    core = "\n".join(line(asked.units[n]) for n in np.flatnonzero(kept).tolist() if n not in places)
    started = process_time()
    first = reader.first_words("\n".join([core, *lines]), question.text, FIRST)
    begun = any(c.isalnum() for c in first)
    # the controls are asked with it, so that it takes a little longer here than by itself
    answers = [question.answer, other, first if begun else question.answer]
    by_answer = gains(core, lines, question.text, answers, reader)
    spent = process_time() - started
    asking = gains(core, lines, "What may be asked?", [question.text], reader)
    judged = {
        FIRST_WORDS: by_answer[:, 2] if begun else worths[places],
        QUESTION: asking[:, 0],
        OTHER: by_answer[:, 1],
        BM25: asked.columns["alone"][places],
        KNOWN: by_answer[:, 0],
        CEILING: asked.wanted[places].astype(np.float64),
    }
    found = {OFF: asked.kept(worths), **{name: by(one) for name, one in judged.items()}}
    found[RANDOM] = float(np.mean([by(chance.random(len(places))) for _ in range(_DRAWS)]))
    return found, spent
