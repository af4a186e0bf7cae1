"""Topics: cuts of three forms of talk against people's, by constants that were fitted without that form.

`segmentation/*.json`: spliced calls of several services (DialSeg711), chats of strangers (TIAGE), sessions of
committees (QMSum), and `qmsum/*.jsonl`: meetings with the spans of their topics, but for those that are among the
others. Controls: no cut at all, as many cuts as the truth has at random places and at even distances,
TextTiling over words (Hearst 1997) and over the same embeddings.

How far a cut of a conversation into topics is from the true one; lower is better. Segments are given by lengths.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.conversation.cohesion import Floats, depths, segment_vectors, word_vectors
from amgs.conversation.segments import FEATURES, LINKED, boundaries, boundary_evidence, prior_log_odds, probabilities
from amgs.errors import InputError
from amgs.types import Vector
from benchmarks import measures
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult

Cuts = NDArray[np.bool_]
"""(n - 1,): whether a segment ends at each gap between n messages."""


def cuts_of(lengths: Sequence[int]) -> Cuts:
    """The cuts between segments of these lengths."""
    cuts = np.zeros(sum(lengths) - 1, dtype=np.bool_)
    cuts[np.cumsum(lengths[:-1], dtype=np.intp) - 1] = True
    return cuts


def half_length(true: Cuts) -> int:
    """k: half of the mean length of a true segment, rounded, at least 1."""
    return max(1, round((len(true) + 1) / (2 * (int(true.sum()) + 1))))


def pk(true: Cuts, found: Cuts, k: int | None = None) -> float:
    """The share of pairs k apart that are in one segment in one cut and in two in the other (Beeferman et al. 1999)."""
    k = half_length(true) if k is None else k
    return float(np.mean((_between(true, k) == 0) != (_between(found, k) == 0)))


def window_diff(true: Cuts, found: Cuts, k: int | None = None) -> float:
    """The share of pairs k apart with another number of cuts between them (Pevzner and Hearst 2002)."""
    k = half_length(true) if k is None else k
    return float(np.mean(_between(true, k) != _between(found, k)))


def _between(cuts: Cuts, k: int) -> NDArray[np.intp]:
    """How many cuts lie between each message and the one k after it."""
    sums = np.concatenate([np.zeros(1, dtype=np.intp), np.cumsum(cuts)])
    return np.asarray(sums[k:] - sums[:-k])


GOALS: Mapping[str, tuple[Comparator, float]] = {
    "pk_dialseg_711": ("<=", 25.0),
    "pk_tiage": ("<=", 36.0),
    "pk_meeting_committee": ("<=", 38.0),
}
_RIDGE = 1.0
_MASS = 300.0
"""Boundaries that a form counts as, however many it has."""
_LONG, _SHARED = 80, 5
"""So many characters a message has that tells meetings apart; so many of them two meetings may share."""
_UNCOVERED, _FEWEST = 5, 3
"""Messages that belong to no topic make a part of their own from so many; a part has so many at least."""


@dataclass(frozen=True, eq=False, slots=True)
class Dialogue:
    """A conversation of n messages, its true cuts (n - 1,), vectors (n, d) and evidence (n - 1, features)."""

    texts: tuple[str, ...]
    true: Cuts
    vectors: Vector
    evidence: Floats


Cutter = Callable[[Dialogue], Cuts]


def measure_segments(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """Pk and WindowDiff by form in percent; None where there is no `segmentation/`. Raises InputError for a file that
    is none of these.
    """
    paths = sorted((data / "segmentation").glob("*.json"))
    if not paths:
        return None
    forms = {path.stem: read_form(path, rig) for path in paths}
    known = {text for dialogues in forms.values() for one in dialogues for text in one.texts}
    meetings = [one for path in sorted((data / "qmsum").glob("*.jsonl")) for one in read_meetings(path, rig, known)]
    if meetings:
        forms["qmsum"] = meetings
    shipped = fit(list(forms.values()))
    metrics: dict[str, float] = {}
    scores: list[tuple[str | float, ...]] = []
    for name, dialogues in forms.items():
        others = [held for other, held in forms.items() if other != name]
        cutters: dict[str, Cutter] = {
            "no cut": lambda one: np.zeros_like(one.true),
            "as many, random": random_cuts(rig.seed),
            "as many, even": even_cuts,
            "TextTiling, words": lambda one: texttiling(word_vectors(one.texts)),
            "TextTiling, embeddings": lambda one: texttiling(one.vectors),
        }
        if others:
            cutters["ours, fitted on the other forms"] = cutter(fit(others))
            for place, feature in enumerate(FEATURES):
                cutters[f"  without {feature}"] = cutter(fit(others, without=place))
        cutters["ours, as shipped"] = lambda one: boundaries(probabilities(one.evidence))
        cutters["ours, fitted on this data"] = cutter(shipped)
        plain: list[float] = []
        for method, cut in cutters.items():
            found = [cut(one) for one in dialogues]
            pairs = list(zip([one.true for one in dialogues], found, strict=True))
            scored = [100 * float(np.mean([by(*pair) for pair in pairs])) for by in (pk, window_diff)]
            each = [pk(*pair) for pair in pairs]
            plain = each if method == "no cut" else plain
            scores.append(
                (
                    name,
                    method,
                    *scored,
                    _interval(each, plain),
                    float(np.mean([cuts.sum() for cuts in found])),
                    float(np.mean([one.true.sum() for one in dialogues])),
                )
            )
        by_method = {str(row[1]): float(row[2]) for row in scores if row[0] == name}
        metrics[f"pk_{name}"] = by_method.get("ours, fitted on the other forms", float("nan"))
        metrics[f"pk_{name}_shipped"] = by_method["ours, as shipped"]
        metrics[f"pk_{name}_no_cut"] = by_method["no cut"]
        metrics[f"topics_share_{name}"] = next(
            (float(row[5]) + 1.0) / (float(row[6]) + 1.0) for row in scores if row[:2] == (name, "ours, as shipped")
        )
    shown = [", ".join(f"{x:.2f}" for x in shipped), ", ".join(FEATURES)]
    tables = (
        BenchTable(
            "Topics by form",
            ("form", "cut", "Pk", "WindowDiff", "Pk less that of no cut, 95 %", "cuts found", "true cuts"),
            tuple(scores),
        ),
        BenchTable("Constants fitted on all forms", ("weights and bias", "features"), (tuple(shown),)),
        BenchTable(
            f"Linking topics at {LINKED:g}: pairs over it, %",
            ("form", "halves of one topic", "different topics", "pairs"),
            tuple((name, *_linking(dialogues)) for name, dialogues in forms.items()),
        ),
    )
    goals = {**GOALS, **{f"{name}_shipped": goal for name, goal in GOALS.items()}}
    return SubjectResult(metrics, goals, tables)


def _interval(ours: Sequence[float], plain: Sequence[float]) -> str:
    """The interval of the mean difference, in points, by drawing conversations."""
    low, high = measures.interval({str(i): [a - b] for i, (a, b) in enumerate(zip(ours, plain, strict=True))})
    return f"{100 * low:+.1f} to {100 * high:+.1f}"


def read_form(path: Path, rig: MemoryRig) -> list[Dialogue]:
    """The conversations of a file: a list of `{"utterances": […], "segments": [lengths]}`."""
    found = []
    try:
        rows = [(tuple(row["utterances"]), list(row["segments"])) for row in json.loads(path.read_bytes())]
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{path} holds no conversations cut into segments.", way_out="Give DIR/segmentation/*.json."
        ) from error
    vectors = rig.embedder.embed([text for texts, _ in rows for text in texts], rig.progress)
    start = 0
    for texts, lengths in rows:
        own = vectors[start : start + len(texts)]
        start += len(texts)
        found.append(Dialogue(texts, cuts_of(lengths), own, boundary_evidence(texts, own)))
    return found


def read_meetings(path: Path, rig: MemoryRig, known: Collection[str] = ()) -> list[Dialogue]:
    """The meetings of a file of QMSum with the topics that people found in them, those left out of whose long messages
    some are known. Messages are embedded as they are when they are stored: with who speaks.
    """
    found = []
    try:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            said = [(str(turn["speaker"]), str(turn["content"])) for turn in row["meeting_transcripts"]]
            texts = tuple(text for _, text in said)
            spans = [(int(a), int(b)) for topic in row["topic_list"] for a, b in topic["relevant_text_span"]]
            if len(texts) > 1 and sum(len(text) > _LONG and text in known for text in texts) <= _SHARED:
                vectors = rig.embedder.embed([f"{speaker}: {text}" for speaker, text in said], rig.progress)
                found.append(Dialogue(texts, topic_cuts(spans, len(texts)), vectors, boundary_evidence(texts, vectors)))
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path} holds no meetings as QMSum has them: {error}.") from error
    return found


def topic_cuts(spans: Sequence[tuple[int, int]], messages: int) -> Cuts:
    """The cuts where spans (first, last) of messages begin, and where they end if what follows belongs to none; neither
    where it would leave a part of fewer than three messages.
    """
    covered = np.zeros(messages, dtype=np.bool_)
    for first, last in spans:
        covered[first : last + 1] = True
    begun = {first for first, _ in spans}
    ended = {last + 1 for _, last in spans if not covered[last + 1 : last + 1 + _UNCOVERED].any()}
    cuts = np.zeros(messages - 1, dtype=np.bool_)
    for place in begun | {place for place in ended if place + _UNCOVERED <= messages}:
        if _FEWEST <= place <= messages - _FEWEST:
            cuts[place - 1] = True
    return cuts


def fit(forms: Sequence[Sequence[Dialogue]], without: int | None = None) -> Floats:
    """(features + 1,): the weights and, last, the bias of a logistic regression beside the prior, by Newton's method;
    every form counts the same. without: a column that gets no weight.
    """
    rows, true, prior, mass = [], [], [], []
    for dialogues in forms:
        share = _MASS / max(1, sum(int(one.true.sum()) for one in dialogues))
        for one in dialogues:
            rows.append(one.evidence)
            true.append(one.true)
            prior.append(np.full(len(one.true), prior_log_odds(len(one.true) + 1)))
            mass.append(np.full(len(one.true), share))
    design = np.concatenate(rows)
    if without is not None:
        design = design * (np.arange(design.shape[1]) != without)
    design = np.column_stack([design, np.ones(len(design))])
    labels, offset, weight = np.concatenate(true), np.concatenate(prior), np.concatenate(mass)
    ridge = np.diag([*[_RIDGE] * (design.shape[1] - 1), 1e-6])
    fitted = np.zeros(design.shape[1])
    for _ in range(25):
        chance = 1.0 / (1.0 + np.exp(-(design @ fitted + offset)))
        curve = design.T @ ((weight * chance * (1 - chance))[:, None] * design) + ridge
        fitted = fitted - np.linalg.solve(curve, design.T @ (weight * (chance - labels)) + ridge @ fitted)
    return np.asarray(fitted)


def cutter(fitted: Floats) -> Cutter:
    """Our cut, by these weights and bias."""
    return lambda one: boundaries(probabilities(one.evidence, list(fitted[:-1]), float(fitted[-1])))


def random_cuts(seed: int) -> Cutter:
    """As many cuts as the truth has, anywhere."""
    generator = np.random.default_rng(seed)

    def cut(one: Dialogue) -> Cuts:
        return np.asarray(generator.permutation(one.true))

    return cut


def even_cuts(one: Dialogue) -> Cuts:
    """As many cuts as the truth has, at even distances."""
    cuts = np.zeros_like(one.true)
    parts = int(one.true.sum()) + 1
    cuts[[round(place * (len(cuts) + 1) / parts) - 1 for place in range(1, parts)]] = True
    return cuts


def texttiling(vectors: Vector, width: int = 4) -> Cuts:
    """A cut where cosine between blocks of four messages falls deeper than the mean less half a deviation."""
    n = len(vectors)
    alike = np.zeros(n - 1)
    for gap in range(1, n):
        before, after = vectors[max(0, gap - width) : gap].sum(axis=0), vectors[gap : gap + width].sum(axis=0)
        alike[gap - 1] = before @ after / max(1e-9, float(np.linalg.norm(before) * np.linalg.norm(after)))
    deep = depths(alike)
    padded = np.concatenate([[-np.inf], deep, [-np.inf]])
    peak = (deep >= padded[:-2]) & (deep > padded[2:])
    return np.asarray(peak & (deep > deep.mean() - deep.std() / 2))


def _linking(dialogues: Sequence[Dialogue]) -> tuple[float, float, str]:
    """How many pairs are as alike as the segments of a thread: halves of one true segment, and halves of two."""
    same, different = [], []
    for one in dialogues:
        edges = [0, *(np.flatnonzero(one.true) + 1).tolist(), len(one.texts)]
        spans = [(a, b) for a, b in pairwise(edges) if b - a >= 4]
        halves = [(a, (a + b) // 2) for a, b in spans] + [((a + b) // 2, b) for a, b in spans]
        if not spans:
            continue
        held = segment_vectors(one.texts, one.vectors, halves)
        alike = held @ held.T
        m = len(spans)
        same += [float(alike[i, i + m]) for i in range(m)]
        different += [float(alike[i, j]) for i in range(2 * m) for j in range(i) if i % m != j % m]
    over = [100 * float(np.mean(np.array(values) > LINKED)) for values in (same, different)]
    return over[0], over[1], f"{len(same)}, {len(different)}"
