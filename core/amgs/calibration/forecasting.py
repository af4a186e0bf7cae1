"""Forecast the usefulness of a frame's blocks and settle that by verdicts (AMGS §7.3, §13.3); find the blocks
that an answer used; and promise how often a frame's budget is enough.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Final

import numpy as np

from amgs.calibration.brier import brier_score
from amgs.calibration.results import EdgeChange, FrameNeeds, read_curve
from amgs.errors import UsageError
from amgs.frames import registry
from amgs.frames.registry import Definitions
from amgs.incoming import make_storable
from amgs.index.terms import common_stems, identifiers, word_analyzer
from amgs.log import journal
from amgs.log.reinforcement import reinforce
from amgs.storage.forecasts import CalibrationFit, EdgeVerdicts
from amgs.storage.frames import version_of
from amgs.storage.journal import JournalRow
from amgs.storage.store import Storage
from amgs.text.words import plural, split_spaceless
from amgs.types import Candidate, Edge, EdgeKey, Frame, Outcome
from amgs.types.calibration import BlockUse, CoverageLevel, CoverageReview, FrameCoverage, Usefulness, UseSign

CONTROLS = 200
"""Number of blocks with which a shown block is compared: others of the memory, or, where those are too few, others that
were shown.
"""

CHANCE = 0.02
"""Share of the controls that may share as many words with the answer; the expected share of false uses."""

WAITING = timedelta(hours=1)
"""Age of a frame up to which an answer settles its forecasts."""

_ID = re.compile(r"(?<![0-9a-f])[0-9a-f]{8,64}(?![0-9a-f])")
"""A citation of a block: the beginning of its id."""

Words = frozenset[str]


def find_cited_ids(answer: str, shown: Iterable[str]) -> frozenset[str]:
    """Return the shown ids of which the answer has a beginning of eight digits or more."""
    named = set(_ID.findall(answer.lower()))
    return frozenset(block_id for block_id in shown if any(block_id.startswith(name) for name in named))


def match_words(
    answer: str, question: str, shown: Mapping[str, str], controls: Sequence[str]
) -> dict[str, tuple[bool, float]]:
    """Return for each shown text, by id, whether the answer used it, and the share of controls with as much in common.

    Takes the text that explains most of the answer's words, rare ones counting more, and compares it with the controls;
    then removes those words and takes the next text, until a text is no better than chance. controls: texts of other
    blocks; the other shown texts fill up to CONTROLS. With fewer than 49 controls no use can be found.

    No model is asked. Words of the question count for no block, and words that a block explains count for no other.
    """
    analyzer = word_analyzer()

    def words(text: str) -> Words:
        # Always the English stemmer: the language of a short answer is a guess, and its stems would not match.
        stems = analyzer.analyze(split_spaceless(make_storable(text), singles=True))
        return frozenset((*stems, *(identifier.exact for identifier in identifiers(text)))) - common_stems()

    texts = {block_id: words(text) for block_id, text in sorted(shown.items())}
    others = [words(text) for text in controls[:CONTROLS]]
    left = words(answer) - words(question)
    documents = len(texts) + len(others)
    among = Counter(word for own in (*texts.values(), *others) for word in own & left)
    weight = {word: math.log((documents + 1) / count) for word, count in among.items()}

    def weigh_shared_words(own: Words, rest: Words) -> float:
        return sum(weight[word] for word in sorted(own & rest))

    left &= weight.keys()
    verdicts: dict[str, tuple[bool, float]] = {}
    while len(verdicts) < len(texts):
        waiting = [block_id for block_id in texts if block_id not in verdicts]
        best = max(waiting, key=lambda block_id: weigh_shared_words(texts[block_id], left))
        most = weigh_shared_words(texts[best], left)
        stand_in = [texts[block_id] for block_id in waiting if block_id != best][: CONTROLS - len(others)]
        beside = [*others, *stand_in]
        matched = sum(weigh_shared_words(own, left) >= most - 1e-9 for own in beside)
        chance = (1 + matched) / (1 + len(beside))
        if most <= 0 or chance > CHANCE:
            return verdicts | {
                block_id: (False, 1.0 if block_id != best or most <= 0 else chance) for block_id in waiting
            }
        verdicts[best] = True, chance
        left -= texts[best]
    return verdicts


def log_uses(
    storage: Storage,
    answer: str,
    question: str,
    shown: Sequence[str],
    beside: Sequence[str],
    *,
    keep: int,
    now: datetime,
) -> tuple[BlockUse, ...]:
    """Log which of the shown blocks an answer used, and return the uses; for a block with a forecast also that it was
    not used.

    shown: full ids. beside: ids of blocks created from the question or answer, which are no controls. keep: entries to
    keep in the log; with 0, or in a read-only store, nothing is logged and () returned.
    """
    contents = {} if storage.read_only or not keep else storage.blocks.contents_of(list(shown))
    texts = {block_id: contents[block_id] for block_id in shown if block_id in contents}
    if not texts or not answer.strip():
        return ()
    controls = storage.block_uses.controls([*texts, *beside], CONTROLS)
    named, by_words = find_cited_ids(answer, texts), match_words(answer, question, texts, controls)
    with storage.transaction():
        awaited = storage.forecasts.find_awaited(list(texts), now - WAITING)
        uses: list[BlockUse] = []
        for block_id in texts:
            used, chance = by_words[block_id]
            by: UseSign = "citation" if block_id in named else "words" if used else ""
            uses.append(BlockUse(now, block_id, by, 1.0 if by == "citation" else chance, awaited.get(block_id, "")))
        storage.block_uses.add([use for use in uses if use.by or use.prediction_id], keep)
    return tuple(uses)


LEVELS: Final = (0.8, 0.9, 0.95)
"""Probabilities for which the needed budget is shown."""
LEAST: Final = 30
"""Questions below which nothing is promised, as the share would scatter by more than 15 points."""

Needed = Sequence[int | None]
"""Tokens that each question needed; None where no budget was enough."""


def promise_budget(needed: Needed, level: float) -> int | None:
    """Return the budget that is enough for the next question with probability `level` at least: the
    ceil((n + 1) · level)-th smallest of n needs. None where the questions are too few, or too many never had enough.

    Split conformal prediction (Vovk, Gammerman and Shafer 2005), which assumes only that the next question is drawn
    like the earlier ones.
    """
    place = math.ceil(round((len(needed) + 1) * level, 9))  # rounded: 0.9 · 70 is no more than 63
    known = sorted(need for need in needed if need is not None)
    return known[place - 1] if 0 < place <= len(known) else None


def coverage_at(needed: Needed, budget: int) -> FrameCoverage | None:
    """Return the share of questions for which a budget is enough, and the budget for each level; None for fewer than
    LEAST questions.
    """
    if len(needed) < LEAST:
        return None
    hits = sum(need is not None and need <= budget for need in needed)
    costs = tuple((level, promise_budget(needed, level)) for level in LEVELS)
    return FrameCoverage(len(needed), hits / (len(needed) + 1), costs)


def review(needs: FrameNeeds) -> CoverageReview:
    """Check each promise: for every question from the LEAST-th on, whether the budget promised by those before it was
    enough. Leaving out a question at a time would prove nothing: the k-th of n sorted needs always covers k of them.
    """
    needed, levels = needs.needed, []
    if len(needed) >= LEAST:
        for level in LEVELS:
            budgets = [promise_budget(needed[:n], level) for n in range(LEAST, len(needed))]
            tried = [
                own is not None and own <= budget
                for own, budget in zip(needed[LEAST:], budgets, strict=True)
                if budget is not None
            ]
            levels.append(CoverageLevel(level, promise_budget(needed, level), sum(tried), len(tried)))
    return CoverageReview(needs.frame, len(needed), LEAST, tuple(levels))


def add_promise(frame: Frame, known: Definitions, fitted: CalibrationFit) -> Frame:
    """Return a frame with the coverage that its budget promises; unchanged where it has no query, or where its
    definition changed since the needs were measured.
    """
    needs = _read_needs(fitted.needs).get(frame.name) if frame.query.strip() else None
    if needs is None or needs.definition != definition_hash(frame.name, known):
        return frame
    return replace(frame, coverage=coverage_at(needs.needed, frame.budget))


def reviews(storage: Storage) -> tuple[CoverageReview, ...]:
    """Return how well the current calibration's promises came true, a review for each frame."""
    return tuple(review(frame_needs) for frame_needs in _read_needs(storage.forecasts.needs()).values())


def definition_hash(name: str, known: Definitions) -> str:
    """Return a hash of a frame's definition and those below it, without its budget."""
    definition = registry.find(name, known)
    below = [child for child in registry.tree(definition, known) if child is not definition]
    return version_of([replace(definition, budget=1), *below])


def to_json(needs: Sequence[FrameNeeds]) -> str:
    """Return needs as the JSON that `ForecastStorage.put_needs` stores."""
    return json.dumps({frame_needs.frame: [frame_needs.definition, frame_needs.needed] for frame_needs in needs})


def is_readable(text: str) -> bool:
    """Return whether a text can be read as needs; a damaged import cannot."""
    try:
        return all(
            isinstance(frame_needs.definition, str)
            and all(need is None or type(need) is int for need in frame_needs.needed)
            for frame_needs in _read_needs(text).values()
        )
    except (ValueError, TypeError, AttributeError, RecursionError):
        return False


@lru_cache(maxsize=4)
def _read_needs(text: str | None) -> Mapping[str, FrameNeeds]:
    data = {} if text is None else json.loads(text)
    return {name: FrameNeeds(name, definition, tuple(needed)) for name, (definition, needed) in data.items()}


PRIOR_STRENGTH = 4.0
"""Number of verdicts that an edge's confidence c counts as: after h hits in n verdicts it is (4c + h) / (4 + n)."""


def edge_change(edge: Edge, seen: EdgeVerdicts) -> EdgeChange:
    """Return an edge's change of confidence after the verdicts on it: a hit raises it, a miss lowers it."""
    after = (edge.confidence * PRIOR_STRENGTH + seen.hits) / (PRIOR_STRENGTH + seen.count)
    return EdgeChange(edge, round(after, 4), seen.hits, seen.count)


def edge_changes(storage: Storage, predictions: Sequence[str] | None = None) -> tuple[EdgeChange, ...]:
    """Return the changes of edges by verdicts that are not yet counted.

    predictions: ids of forecasts; only edges that led to their blocks. None for all.
    """
    walked = storage.edge_forecasts.open_verdicts(predictions)
    edges = storage.edges.get([verdicts.key for verdicts in walked])
    return tuple(edge_change(edges[verdicts.key], verdicts) for verdicts in walked if verdicts.key in edges)


def write_edges(
    storage: Storage, planned: Iterable[EdgeChange], now: datetime
) -> tuple[list[JournalRow], list[EdgeKey]]:
    """Write the new confidences, and restart the decay of edges that led to a useful block (AMGS §8.4).

    Returns the journal's rows and the changed edges. The caller holds a transaction.
    """
    wanted = {change.edge.key: change for change in planned}
    edges = storage.edges.get(wanted)
    after = [
        replace(edge, confidence=change.after, last_reinforced_at=now if change.hits > 0 else edge.last_reinforced_at)
        for edge, change in ((edges[key], change) for key, change in wanted.items())
    ]
    storage.edges.put(after)
    return [journal.edge_row(edges[edge.key], edge) for edge in after], list(wanted)


def log_forecasts(
    storage: Storage, frame: Frame, selected: Sequence[Candidate], walked: Sequence[EdgeKey], curve: str | None
) -> None:
    """Log for each selected block a forecast: its composite score as the probability that it will be useful.

    curve: a calibration's map from scores to outcomes, as JSON; None before the first. walked: edges that led to blocks
    found through the graph; a verdict on such a block also counts for them.

    Verdicts settle the forecasts (AMGS §7.3, §13.3).
    """
    first = storage.forecasts.next_serial()
    scores = [c.score for c in selected]
    predicted = _map_scores(curve, scores)
    forecasts = [
        Outcome(
            prediction_id=f"p{first + i}",
            predicted=predicted[i],
            actual=None,
            brier=None,
            at=frame.as_of,
            block_id=c.block.id,
            frame=frame.name,
            category=c.block.category,
        )
        for i, c in enumerate(selected)
    ]
    storage.forecasts.insert(forecasts, frame.id, first, None if curve is None else scores)
    reached = {c.block.id for c in selected if "graph" in c.layers}
    storage.edge_forecasts.insert(
        [(f.prediction_id, k) for f in forecasts if f.block_id in reached for k in walked if f.block_id in k[:2]]
    )


def forecast_scores(storage: Storage, scores: Sequence[float]) -> list[float]:
    """Return the probability of usefulness for composite scores: calibrated, or the scores themselves before the first
    calibration.
    """
    return _map_scores(storage.forecasts.curve(), scores)


def _map_scores(curve: str | None, scores: Sequence[float]) -> list[float]:
    mapped: list[float] = [] if curve is None else read_curve(curve).at(np.array(scores)).tolist()
    return list(scores) if curve is None else mapped


def usefulness(storage: Storage, ids: Sequence[str]) -> dict[str, Usefulness]:
    """Return the verdicts on these blocks, by id; blocks without a verdict are left out."""
    return {i: Usefulness(*counts) for i, counts in storage.forecasts.count_verdicts(ids).items()}


KIND = "feedback"
USEFUL = "useful"
"""The event of a block that a verdict calls useful."""


def record_verdict(
    storage: Storage,
    block_id: str,
    *,
    useful: bool,
    assembly_id: str | None,
    now: datetime,
    prediction_id: str | None = None,
) -> Outcome:
    """Settle the latest open forecast of a block, or the named forecast, and journal it. A useful block is reinforced,
    and the edges that led to it change at once.

    Raises UsageError when the block has no open forecast.
    """
    with storage.transaction():
        outcome = _decide_forecast(storage, block_id, useful, now, assembly_id, prediction_id)
        block = storage.blocks.get([block_id])[block_id]
        verdict = "useful" if useful else "useless"
        summary = f"“{block.title}” {verdict}, forecast {outcome.predicted:.2f}"
        rows = _reinforce_blocks(storage, [block_id], USEFUL, outcome.frame, now) if useful else []
        _write_operation(storage, now, summary, (), (outcome,), {row.key: row for row in rows})
        return outcome


def record_verdicts(
    storage: Storage,
    verdicts: Mapping[str, bool],
    *,
    reinforced: Sequence[str],
    event_type: str,
    source: str,
    now: datetime,
) -> tuple[Outcome, ...]:
    """Record several verdicts and reinforcements as a single operation. verdicts: whether each block was useful, by id;
    a useful block is reinforced once.

    Raises UsageError when a block has no open forecast, UnknownBlockError for an unknown block; nothing is written
    then.
    """
    with storage.transaction():
        rows = _reinforce_blocks(storage, reinforced, event_type, source, now)
        useful = [i for i, yes in verdicts.items() if yes and i not in reinforced]
        by_verdict = {row.key: row for row in _reinforce_blocks(storage, useful, USEFUL, source, now)}
        outcomes = tuple(_decide_forecast(storage, block_id, useful, now) for block_id, useful in verdicts.items())
        if rows or outcomes:
            summary = f"{plural(len(outcomes), 'verdict')}, {plural(len(rows), 'block')} reinforced, by {source}"
            _write_operation(storage, now, summary, rows, outcomes, by_verdict)
        return outcomes


def _reinforce_blocks(
    storage: Storage, ids: Sequence[str], event_type: str, source: str, now: datetime
) -> list[JournalRow]:
    """Reinforce blocks, each once, and return the journal's rows."""
    once = list(dict.fromkeys(ids))
    before = storage.blocks.get(once)
    reinforce(storage, once, event_type=event_type, source=source, now=now)
    return [journal.clock_row(before[i], event_type, now, source) for i in once]


def _write_operation(
    storage: Storage,
    now: datetime,
    summary: str,
    rows: Sequence[JournalRow],
    outcomes: Sequence[Outcome],
    reinforced: Mapping[str, JournalRow],
) -> None:
    """Journal an operation: its outcomes, its reinforcements and the edges that changed. reinforced: rows of the blocks
    reinforced by a verdict, by id.
    """
    planned = edge_changes(storage, [o.prediction_id for o in outcomes])
    of_edges, learned = write_edges(storage, planned, now)
    summary += f", {len(learned)} edge{'' if len(learned) == 1 else 's'} corrected" if learned else ""
    verdicts = [journal.verdict_row(o, reinforced.get(o.block_id)) for o in outcomes]
    entry = journal.write(storage, KIND, now, summary, [*rows, *verdicts, *of_edges])
    if learned:
        storage.edge_forecasts.count_in(entry.id, learned)


def _decide_forecast(
    storage: Storage,
    block_id: str,
    useful: bool,
    now: datetime,
    assembly_id: str | None = None,
    prediction_id: str | None = None,
) -> Outcome:
    """Write the outcome of an open forecast with its Brier score; raise UsageError where none is open."""
    forecast = storage.forecasts.open_forecast(block_id, assembly_id, prediction_id)
    if forecast is None:
        where = f" in assembly {assembly_id}" if assembly_id else ""
        raise UsageError(
            f"No forecast of block {block_id[:8]} is open{where}.",
            way_out="Assemble a frame that selects it; each assembly takes one verdict per block.",
        )
    actual = 1.0 if useful else 0.0
    score = brier_score(forecast.predicted, actual)
    storage.forecasts.decide(forecast.prediction_id, actual, score, now)
    return replace(forecast, actual=actual, brier=score, at=now)
