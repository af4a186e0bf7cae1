"""Compute the six success metrics of AMGS §13.1 from a store, and the monitors of §13.3, for `amgs metrics`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

import numpy as np

from amgs.calibration.questions import Labelled, is_held_out, recall
from amgs.calibration.results import Metric
from amgs.frames.cache import Importance, shift
from amgs.frames.compare import jaccard
from amgs.storage.assemblies import AssemblyRecord
from amgs.storage.store import Storage
from amgs.text.plural import plural
from amgs.types.entropy import entropy

K = 10
BRIER_GOAL = 0.15
"""Mean Brier score that forecasts should stay under (AMGS §13.1)."""
_RECENT = 50
DRIFT = "centrality drift"
CYCLES = ("enhance", "consolidate")
"""Kinds of operation between which the graph is compared; the first kind that the store has."""

Find = Callable[[str, int], Sequence[str]]
"""Searches for a query and returns the ids of so many best blocks."""


def retrieval(questions: Sequence[Labelled], find: Find, seed: int, known: int) -> tuple[Metric, ...]:
    """Return precision and recall over all questions, and over the held-out third. known: questions in the file."""
    if not questions:
        note = "needs labelled questions" if not known else "no answer of the questions is in the store"
        return (_metric("precision", None, 0.80, note), _metric("recall", None, 0.70, note))
    hits = {case.question.id: find(case.question.text, max(K, len(case.relevant))) for case in questions}
    apart = [case for case in questions if is_held_out(case.question, seed)]
    metrics = []
    for name, those in (("", questions), (" held out", apart)):
        if not those:
            continue
        exact = [_r_precision(hits[case.question.id], case) for case in those]
        at_k = [sum(i in case.relevant for i in hits[case.question.id][:K]) / K for case in those]
        recalls = [recall(hits[case.question.id][:K], case) for case in those]
        remark = f"{plural(len(those), 'question')} with an answer; of the first R hits, R = relevant blocks"
        metrics.append(
            _metric(f"precision{name}", float(np.mean(exact)), 0.80, f"{remark}; of {K} hits {np.mean(at_k):.3f}")
        )
        metrics.append(
            _metric(
                f"recall{name}", float(np.mean(recalls)), 0.70, f"{plural(len(those), 'question')}; sources in {K} hits"
            )
        )
    return tuple(metrics)


def _r_precision(hits: Sequence[str], case: Labelled) -> float:
    """Return the share of relevant blocks among the first R hits, R being the number of relevant blocks."""
    wanted = case.relevant
    return sum(i in wanted for i in hits[: len(wanted)]) / len(wanted)


def coherence(storage: Storage, assemblies: Iterable[AssemblyRecord]) -> Metric:
    """Return the mean cosine of pairs of blocks within an assembly, over the latest _RECENT."""
    several = [a for a in assemblies if len(a.selected) > 1][:_RECENT]
    blocks = storage.blocks.get({i for a in several for i in a.selected}, embeddings=True)
    means = []
    for assembly in several:
        rows = [b.embedding for i in assembly.selected if (b := blocks.get(i)) is not None and b.embedding is not None]
        if len(rows) > 1:
            cosines = np.stack(rows) @ np.stack(rows).T
            means.append(float(cosines[np.triu_indices(len(rows), 1)].mean()))
    counted = plural(len(means), "assembly", "assemblies")
    note = f"mean cosine of pairs in {counted}" if means else "no assembly has two embedded blocks"
    return Metric("coherence", float(np.mean(means)) if means else None, "higher", None, note)


def graph_stability(storage: Storage) -> Metric:
    """Return the share of edges that stayed between the last two cycles: those at both ends over those at either."""
    for kind in CYCLES:
        ids = storage.monitors.cycles(kind)
        if ids:
            break
    else:
        return Metric("graph stability", None, "near 1", None, "no cycle has run yet")
    # Between the last two cycles, the later one included; after the only one, up to now.
    since = ids[1] if len(ids) > 1 else ids[0]
    new_edges, gone = storage.monitors.edges_changed(since)
    now = {e.key for e in storage.edges.everything()}
    before = (now - new_edges) | (gone - new_edges)
    value = len(now & before) / len(now | before) if now or before else 1.0
    return Metric("graph stability", value, "near 1", None, f"edges since operation {since} ({kind})")


def calibration(brier: float | None, outcomes: int) -> Metric:
    """Return the mean Brier score of all verdicts."""
    met = None if brier is None else brier < BRIER_GOAL
    return Metric("Brier", brier, f"< {BRIER_GOAL:g}", met, f"{outcomes} outcomes")


def attention_stability(assemblies: Sequence[AssemblyRecord]) -> Metric:
    """Return the mean Jaccard overlap of successive assemblies of a frame for the same query."""
    by_query: dict[tuple[str, str], list[frozenset[str]]] = defaultdict(list)
    for record in reversed(assemblies):
        by_query[record.name, record.query].append(frozenset(record.selected))
    overlaps = [jaccard(a, b) for runs in by_query.values() for a, b in pairwise(runs)]
    note = f"{plural(len(overlaps), 'pair')} of successive assemblies" if overlaps else "nothing was assembled twice"
    return _metric("attention stability", float(np.mean(overlaps)) if overlaps else None, 0.60, note)


def monitors(storage: Storage, assemblies: Sequence[AssemblyRecord], importance: Importance) -> tuple[Metric, ...]:
    """Return the drift of centrality since the last record, and the entropy of categories over all blocks and within
    frames. importance: centrality of the most central blocks, by id.
    """
    last = storage.monitors.last(DRIFT)
    drift = None if last is None else shift(last.detail, importance)
    note = "nothing was recorded yet: --record does" if last is None else f"since {last.at:%Y-%m-%d %H:%M}"
    spread = entropy(storage.blocks.by_category().values())
    recent = [record.entropy_bits for record in assemblies[:_RECENT]]
    return (
        Metric(DRIFT, drift, "", None, note),
        Metric("entropy of categories", spread.bits, "", None, f"bits, {spread.most:.2f} at most"),
        Metric(
            "entropy of frames",
            float(np.mean(recent)) if recent else None,
            "",
            None,
            f"bits, mean of {plural(len(recent), 'assembly', 'assemblies')}",
        ),
    )


def _metric(name: str, value: float | None, target: float, note: str) -> Metric:
    return Metric(name, value, f"> {target:.2f}", None if value is None else value > target, note)
