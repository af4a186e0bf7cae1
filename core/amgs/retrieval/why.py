"""Explain why a block is or is not a hit of a query: the layer where it dropped out, and by how much.

It runs the search again with the block among the candidates. Commands, panes and the diagnosis show the
result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from amgs.clock import as_utc
from amgs.index.arrays import contains
from amgs.retrieval.layers import LexicalHit, fuzzy, keyword, prefilter, weight_row
from amgs.retrieval.passage_finder import matching_words, quote_words, words_with_stems
from amgs.retrieval.sources import FORMS
from amgs.retrieval.waterfall import (
    FINDERS,
    FUZZY_POOL,
    GRAPH_SEEDS,
    KEYWORD_POOL,
    VECTOR_POOL,
    Gathered,
    RetrievalRequest,
    add_contributions,
    gather,
)
from amgs.types import COMPONENTS, Block, BlockFilter, Explanation, LayerVerdict, WeightChange, Weights

if TYPE_CHECKING:
    from amgs.retrieval.sources import Sources


MARGIN = 1e-6
"""How far a block must exceed another: at a tie the id decides, which no weight changes."""

_TOLERANCE = 1e-9
_MOST_RIVALS = 4

Row = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Admission:
    """Weights (5,) under which the block ranks at `rank`, and their L2 distance from the current ones."""

    weights: Row
    distance: float
    rank: int


def nearest_weights(weights: Row, differences: NDArray[np.float64]) -> Row | None:
    """Return the weights nearest to these (5,) in L2, non-negative and with sum 1, under which each row of
    `differences` (c, 5) is at least MARGIN; None when there are none.

    At the nearest point some weights are 0 and some rows equal MARGIN (are tight). Each choice of them gives a linear
    system, and five weights allow few enough to try them all.
    """
    if bool((differences @ weights >= MARGIN).all()):
        return weights
    best: Row | None = None
    size = weights.size
    for free_count in range(1, size + 1):
        for free in combinations(range(size), free_count):
            for tight in _tight_choices(len(differences), free_count - 1):
                corner = _nearest_corner(weights, differences, list(free), list(tight))
                if corner is None or bool((differences @ corner < MARGIN - _TOLERANCE).any()):
                    continue
                if best is None or _distance(corner, weights) < _distance(best, weights) - _TOLERANCE:
                    best = corner
    return best


def find_admission(parts: NDArray[np.float64], row: int, weights: Row, places: int) -> Admission | None:
    """Return the smallest change of weights found that ranks candidate `row` among the first `places`; None if none.

    parts: (m, 5) of all candidates. For each admitted candidate it looks for weights that rank `row` above it, then
    above any other that is still ahead; the rank is counted again under the new weights, so that the answer is true.
    """
    if places <= 0:
        return None
    order = np.argsort(-(parts @ weights), kind="stable")
    best: Admission | None = None
    for rival in [int(other) for other in order[:places] if other != row]:
        candidate = _pass_rivals(parts, row, weights, places, rival)
        if candidate is not None and (best is None or candidate.distance < best.distance):
            best = candidate
    return best


def _pass_rivals(parts: NDArray[np.float64], row: int, weights: Row, places: int, rival: int) -> Admission | None:
    """Return weights that rank `row` above a rival and, while fewer than `places` allow it, above those still ahead."""
    rivals = [rival]
    while len(rivals) <= _MOST_RIVALS:
        tried = nearest_weights(weights, parts[row] - parts[rivals])
        if tried is None:
            return None
        totals = parts @ tried
        ahead = np.flatnonzero(totals > totals[row] - MARGIN / 2)
        ahead = ahead[ahead != row]
        if ahead.size < places:
            return Admission(tried, _distance(tried, weights), int(ahead.size) + 1)
        # Of those still ahead the lowest is the cheapest to pass.
        rivals.append(int(ahead[np.argmin(totals[ahead])]))
    return None


def _tight_choices(rows: int, most: int) -> list[tuple[int, ...]]:
    """Return every set of rows that may be tight at once: from none up to `most` of them."""
    return [chosen for count in range(min(rows, most) + 1) for chosen in combinations(range(rows), count)]


def _nearest_corner(
    weights: Row, differences: NDArray[np.float64], free: Sequence[int], tight: Sequence[int]
) -> Row | None:
    """Return the weights nearest to these where all but `free` are 0 and the `tight` rows equal MARGIN; None where
    there are none, or any is negative.
    """
    fixed = np.vstack([np.ones((1, len(free))), differences[np.ix_(tight, free)]])
    wanted = np.concatenate([[1.0], np.full(len(tight), MARGIN)])
    start = weights[list(free)]
    step, *_ = np.linalg.lstsq(fixed, wanted - fixed @ start, rcond=None)
    inside = start + step
    if bool((inside < -_TOLERANCE).any()) or not np.allclose(fixed @ inside, wanted, atol=_TOLERANCE):
        return None
    corner = np.zeros(weights.size)
    corner[list(free)] = np.maximum(inside, 0.0)
    return corner


def _distance(a: Row, b: Row) -> float:
    return float(np.linalg.norm(a - b))


def why(
    request: RetrievalRequest, block: Block, number: int, sources: Sources, places: int, frame: str = ""
) -> Explanation:
    """Explain, layer by layer, whether a block is among the best `places` of a request. frame: its name or ""."""
    refused = find_unmet_condition(block, request.filter)
    if refused:
        return explain_refusal(request, block, frame, refused, places)
    # `present`: it is scored like the others even where no layer finds it.
    asked = replace(request, present=(*request.present, number), most=None)
    gathered = gather(asked, sources)
    layers = (
        LayerVerdict("prefilter", "passed", None, None, "it passes every condition"),
        *explain_finders(request, block, number, gathered, sources),
    )
    return _explain_score(request, block, number, gathered, layers, places, frame)


def find_unmet_condition(block: Block, wanted: BlockFilter) -> str:
    """Return the first condition of the pre-filter that a block does not meet, in words; empty when it meets all."""
    conditions = (
        (
            block.status in wanted.statuses,
            f"it is {block.status}; only {' or '.join(wanted.statuses)} blocks are taken",
        ),
        (
            wanted.categories is None or not set(wanted.categories).isdisjoint(block.categories),
            f"its category is {' and '.join(block.categories)}; only {' or '.join(wanted.categories or ())} is taken",
        ),
        (block.categories != (wanted.without,), f"it is {wanted.without} and nothing else"),
        (
            wanted.since is None or block.created_at >= as_utc(wanted.since),
            f"it was created on {block.created_at:%Y-%m-%d}, before the time asked for",
        ),
        (
            wanted.until is None or block.created_at < as_utc(wanted.until),
            f"it was created on {block.created_at:%Y-%m-%d}, after the time asked for",
        ),
        (
            wanted.reinforced_since is None or block.last_reinforced_at >= as_utc(wanted.reinforced_since),
            f"it was last reinforced on {block.last_reinforced_at:%Y-%m-%d}, before the frame's window",
        ),
        (not wanted.self_only or block.is_self_component, "it is no part of the self"),
        *((str(block.meta.get(key)) == value, f"its {key} is not {value}") for key, value in wanted.meta.items()),
    )
    return next((words for met, words in conditions if not met), "")


def explain_refusal(request: RetrievalRequest, block: Block, frame: str, because: str, places: int) -> Explanation:
    """Return the explanation for a block that the pre-filter refuses, for the reason in `because`."""
    return Explanation(
        query=request.text,
        block=block,
        frame=frame,
        fell_at="prefilter",
        because=because,
        by=1.0,
        rank=0,
        of=0,
        places=places,
        score=0.0,
        needed=0.0,
        candidate=None,
        layers=(LayerVerdict("prefilter", "missed", None, None, because),),
        weights=request.weights,
    )


def _explain_score(
    request: RetrievalRequest,
    block: Block,
    number: int,
    gathered: Gathered,
    layers: tuple[LayerVerdict, ...],
    places: int,
    frame: str,
) -> Explanation:
    """Explain a block that passed the pre-filter, by its place in the scores of all candidates."""
    scored = gathered.scored
    row = int(np.searchsorted(scored.facts.numbers, number))
    rank = int(np.flatnonzero(scored.order == row)[0]) + 1
    is_candidate = any(layer.verdict == "passed" for layer in layers[1:]) or number in request.present
    others = [int(other) for other in scored.order if other != row][:places]
    last = others[-1] if others else row
    mine, needed = float(scored.totals[row]), float(scored.totals[last])
    admitted = is_candidate and rank <= places
    fell_at, because, by = "", f"it is number {rank} of {scored.order.size}", 0.0
    if not is_candidate:
        fell_at, because, by = _nearest_miss(layers[1:])
    elif not admitted:
        fell_at, by = "score", max(needed - mine, 0.0)
        because = f"it is number {rank}, the best {places} are taken; it lacks {by:.3f}"
    stands = LayerVerdict("score", "passed" if rank <= places else "missed", mine, needed, f"rank {rank}")
    change = None
    if fell_at == "score":
        change = _weight_change(find_admission(scored.parts, row, weight_row(gathered.weights), places))
    candidate = next((c for c in gathered.candidates if c.block.id == block.id), None)
    evidence = gathered.evidence
    return Explanation(
        query=request.text,
        block=block,
        frame=frame,
        fell_at=fell_at,
        because=because,
        by=by,
        rank=rank,
        of=int(scored.order.size),
        places=places,
        score=mine,
        needed=needed,
        candidate=None if candidate is None else add_contributions((candidate,), gathered)[0],
        layers=(*layers, stands),
        weights=gathered.weights,
        change=change,
        form="" if evidence is None else FORMS[int(evidence.form[row])],
        gate=0.0 if evidence is None else float(evidence.gate[row]),
    )


def _weight_change(solution: Admission | None) -> WeightChange | None:
    if solution is None:
        return None
    weights = Weights.normalised(**dict(zip(COMPONENTS, solution.weights.tolist(), strict=True)))
    return WeightChange(weights, solution.distance, solution.rank)


# --- the finders ------------------------------------------------------------------------------------------


def explain_finders(
    request: RetrievalRequest, block: Block, number: int, gathered: Gathered, sources: Sources
) -> tuple[LayerVerdict, ...]:
    """Return each finding layer's verdict on the block; for a layer that did not run, the reason."""
    skipped = {report.layer: report.skipped for report in gathered.layers if report.skipped}
    verdicts = []
    for layer in FINDERS:
        if layer in skipped:
            verdicts.append(LayerVerdict(layer, "switched off", None, None, skipped[layer]))
        elif layer == "graph":
            verdicts.append(_explain_graph(number, gathered, sources))
        elif layer == "vector":
            verdicts.append(_explain_vector(request, number, sources))
        else:
            verdicts.append(_explain_lexical(layer, request, block, number, sources))
    return tuple(verdicts)


def _explain_lexical(
    layer: str, request: RetrievalRequest, block: Block, number: int, sources: Sources
) -> LayerVerdict:
    """Return the verdict of the keyword or the fuzzy layer: the block's share, and the lowest share in the pool."""
    query, index = sources.keyword.query(request.text), sources.keyword
    allowed = prefilter(request.filter, sources.blocks)
    only = np.array([number], dtype=np.int64)
    if layer == "keyword":
        pool = keyword(query, index, allowed, KEYWORD_POOL)
        own = keyword(query, index, only, 1).get(number, LexicalHit(0.0)).share
        words = matching_words(query, block.content, index)
        nothing = "it holds no word of the query"
    else:
        result = fuzzy(request.text, query, index, allowed, FUZZY_POOL)
        if not result.corrections:
            return LayerVerdict(layer, "skipped", None, None, "no word of the query was taken for a typo")
        pool = result.hits
        own = fuzzy(request.text, query, index, only, 1).hits.get(number, LexicalHit(0.0)).share
        words = words_with_stems({correction.known for correction in result.corrections}, block.content, index)
        nothing = "it holds no word that a typo was read as"
    lowest = min((hit.share for hit in pool.values()), default=0.0)
    if number in pool:
        quoted = quote_words(words, block.content)
        because = f"it holds {quoted}" if quoted else f"one of {len(pool)} found by words"
        return LayerVerdict(layer, "passed", own, lowest, because)
    if own <= 0:
        because = nothing
    elif not contains(allowed, only).any():
        because = f"it holds {quote_words(words, block.content)}, but the pre-filter leaves it out"
    else:
        because = f"{len(pool)} others hold more of the query's words"
    return LayerVerdict(layer, "missed", own, lowest, because)


def _explain_vector(request: RetrievalRequest, number: int, sources: Sources) -> LayerVerdict:
    """Return the verdict of the vector layer: the block's cosine and rank, and the lowest cosine in the pool."""
    if not sources.knows_script(request.text):
        return LayerVerdict("vector", "missed", None, None, "the encoder does not know the script of the query")
    allowed = prefilter(request.filter, sources.blocks)
    comparison = sources.vectors.compare(sources.embed(request.text), allowed)
    own = comparison.of([number]).get(number)
    if own is None:
        return LayerVerdict("vector", "missed", None, None, "it has no embedding")
    pool = comparison.best(VECTOR_POOL)
    lowest = max(pool[-1][1], 0.0) if pool else 0.0
    rank = 1 + comparison.nearer(own)
    passed = own > 0 and number in {neighbour for neighbour, _ in pool}
    because = f"number {rank} of {allowed.size} by meaning (cosine)"
    return LayerVerdict("vector", "passed" if passed else "missed", own, lowest, because)


def _explain_graph(number: int, gathered: Gathered, sources: Sources) -> LayerVerdict:
    """Return the verdict of the graph layer: the similarity that flowed to the block, and from which match."""
    flow = next((c.graph for c in gathered.candidates if gathered.numbers[c.block.id] == number), 0.0)
    if flow > 0:
        return LayerVerdict("graph", "passed", flow, 0.0, _describe_link(number, gathered, sources))
    because = f"no edge leads here from the {GRAPH_SEEDS} best matches"
    return LayerVerdict("graph", "missed", 0.0, 0.0, because)


def _describe_link(number: int, gathered: Gathered, sources: Sources) -> str:
    """Name the match from which an edge leads to the block; of several, the match that passes on most."""
    view = sources.graph.view()
    node = view.index_of(number)
    strength: dict[int, float] = {}
    if node is not None:
        neighbours, strengths = view.around(node)
        strength = dict(zip(view.nodes[neighbours].tolist(), strengths.tolist(), strict=True))
    near = [c for c in gathered.candidates if gathered.numbers[c.block.id] in strength]
    if not near:
        return "edges lead here from good matches"
    best = max(near, key=lambda c: c.parts.similarity * strength[gathered.numbers[c.block.id]])
    return f"an edge leads here from “{best.block.title}”"


def _nearest_miss(layers: Sequence[LayerVerdict]) -> tuple[str, str, float]:
    """Return the layer where a block that no layer found came closest, the reason, and how much it lacked there."""
    asked = [layer for layer in layers if layer.verdict == "missed"]
    measured = [layer for layer in asked if layer.value is not None and layer.needed]
    if not measured:
        first = asked[0] if asked else None
        return (first.layer, first.because, 1.0) if first else ("keyword", "no layer looked for it", 1.0)
    best = max(measured, key=lambda layer: (layer.value or 0.0) / (layer.needed or 1.0))
    lacked = (best.needed or 0.0) - (best.value or 0.0)
    return best.layer, f"{best.because}; it lacks {lacked:.3f}", lacked
