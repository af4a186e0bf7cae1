"""Topics: how far our cuts of three forms of talk are from people's, beside no cut at all and TextTiling.

`segmentation/*.json`: spliced calls of several services (DialSeg711), chats of strangers (TIAGE), sessions of
committees (QMSum), of which so many messages are drawn. The weights of the cut were fitted on all three.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from amgs.conversation.cohesion import boundaries, depths, topic_changes
from amgs.errors import InputError
from amgs.types import Vector
from benchmarks.bench_results import BenchTable, Comparator, MemoryRig, SubjectResult

Cuts = NDArray[np.bool_]
"""(n - 1,): whether a segment ends at each gap between n messages."""
GOALS: Mapping[str, tuple[Comparator, float]] = {"pk_dialseg_711": ("<=", 25.0), "pk_meeting_committee": ("<=", 38.0)}
_DRAWN = 900
"""Messages of a form."""

Method = Callable[[Sequence[str], Vector], Cuts]
METHODS: Mapping[str, Method] = {
    "no cut": lambda texts, _: np.zeros(len(texts) - 1, dtype=np.bool_),
    "TextTiling over embeddings": lambda _, vectors: texttiling(vectors),
    "amgs": lambda texts, vectors: boundaries(topic_changes(texts, vectors)),
}


def pk(true: Cuts, found: Cuts, k: int | None = None) -> float:
    """The share of pairs k apart that are in one segment in one cut and in two in the other (Beeferman et al. 1999); k:
    half of the mean length of a true segment.
    """
    k = max(1, round((len(true) + 1) / (2 * (int(true.sum()) + 1)))) if k is None else k
    return float(np.mean((_between(true, k) == 0) != (_between(found, k) == 0)))


def _between(cuts: Cuts, k: int) -> NDArray[np.intp]:
    """How many cuts lie between each message and the one k after it."""
    sums = np.concatenate([np.zeros(1, dtype=np.intp), np.cumsum(cuts)])
    return np.asarray(sums[k:] - sums[:-k])


def measure_segments(rig: MemoryRig, data: Path) -> SubjectResult | None:
    """Pk by form in percent, lower is better; None where there is no `segmentation/`. Raises InputError for a file that
    is none of these.
    """
    metrics: dict[str, float] = {}
    rows: list[tuple[str | float, ...]] = []
    for path in sorted((data / "segmentation").glob("*.json")):
        drawn = _draw(path, rig.seed)
        vectors = [np.asarray(rig.embedder.embed(list(texts), rig.progress)) for texts, _ in drawn]
        for name, cut in METHODS.items():
            pairs = [(true, cut(texts, own)) for (texts, true), own in zip(drawn, vectors, strict=True)]
            score = 100 * float(np.mean([pk(true, found) for true, found in pairs]))
            metrics[f"pk_{path.stem}{'' if name == 'amgs' else '_' + name.split()[0].lower()}"] = score
            rows.append((path.stem, name, str(len(drawn)), score, float(np.mean([found.sum() for _, found in pairs]))))
    if not rows:
        return None
    columns = ("form", "cut", "conversations", "Pk", "cuts a conversation")
    return SubjectResult(metrics, GOALS, (BenchTable("Topics by form", columns, tuple(rows)),))


def _draw(path: Path, seed: int) -> list[tuple[tuple[str, ...], Cuts]]:
    """Conversations of a file, a list of `{"utterances": […], "segments": [lengths]}`, with their true cuts."""
    try:
        every = [(tuple(row["utterances"]), list(row["segments"])) for row in json.loads(path.read_bytes())]
    except (ValueError, KeyError, TypeError) as error:
        way_out = "Give DIR/segmentation/*.json."
        raise InputError(f"{path} holds no conversations cut into segments.", way_out=way_out) from error
    random.Random(seed).shuffle(every)
    found: list[tuple[tuple[str, ...], Cuts]] = []
    for texts, lengths in every:
        if sum(len(other) for other, _ in found) > _DRAWN:
            break
        cuts = np.zeros(len(texts) - 1, dtype=np.bool_)
        cuts[np.cumsum(lengths[:-1], dtype=np.intp) - 1] = True
        found.append((texts, cuts))
    return found


def texttiling(vectors: Vector, width: int = 4) -> Cuts:
    """A cut where cosine between blocks of four messages falls deeper than the mean less half a deviation (Hearst
    1997).
    """
    alike = np.zeros(len(vectors) - 1)
    for gap in range(1, len(vectors)):
        before, after = vectors[max(0, gap - width) : gap].sum(axis=0), vectors[gap : gap + width].sum(axis=0)
        alike[gap - 1] = before @ after / max(1e-9, float(np.linalg.norm(before) * np.linalg.norm(after)))
    deep = depths(alike)
    padded = np.concatenate([[-np.inf], deep, [-np.inf]])
    peak = (deep >= padded[:-2]) & (deep > padded[2:])
    return np.asarray(peak & (deep > deep.mean() - deep.std() / 2))
