"""`memory.calibration`, learning from outcomes: recalibration, tuning, metrics, monitors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from amgs import bounds
from amgs.api.context import MemoryPart
from amgs.calibration import forecasting, tuning
from amgs.calibration import tuning as measures
from amgs.calibration import tuning as planning
from amgs.calibration.questions import Question, label_questions
from amgs.calibration.results import Calibrated, CalibrationPlan, Method, Metrics, OutcomeGroup, OutcomeGroups, Tuning
from amgs.clock import as_utc
from amgs.errors import UsageError
from amgs.frames import pipeline, registry
from amgs.frames.assemble import Template
from amgs.log import journal
from amgs.retrieval import waterfall
from amgs.storage.forecasts import ForecastGroup
from amgs.storage.journal import JournalRow
from amgs.storage.logs import MonitorValue
from amgs.types import ForecastCase, FrameDefinition, Outcome, Progress, Weights
from amgs.types.calibration import BlockUse, Usefulness

_RECENT = 20
_CENTRAL = 200
_WHOLE_POOL = 1_000_000


class Calibration(MemoryPart):
    """`memory.calibration`: learning from outcomes."""

    # --- outcomes (AMGS §7.3) ---------------------------------------------------------------------------

    def verdicts(self, frame: str, query: str) -> Mapping[str, float]:
        """Return the verdicts on the blocks that a frame selects for a query, by id: 1 useful, 0 useless; none for
        blocks whose latest forecast there is open.
        """
        return self._storage.forecasts.verdicts(frame, query)

    def usefulness(self, ids: Sequence[str]) -> Mapping[str, Usefulness]:
        """Return the usefulness of these blocks by verdicts, by id; without those that have none."""
        return forecasting.usefulness(self._storage, [self._context.whole_id(i) for i in ids])

    def settle(
        self, verdicts: Mapping[str, bool], *, reinforced: Sequence[str], event_type: str, source: str
    ) -> tuple[Outcome, ...]:
        """Give verdicts on several blocks (id: useful) and reinforce others, as a single operation of the journal."""
        return forecasting.record_verdicts(
            self._storage,
            {self._context.whole_id(i): useful for i, useful in verdicts.items()},
            reinforced=[self._context.whole_id(i) for i in reinforced],
            event_type=event_type,
            source=source,
            now=self._now,
        )

    def note_answer(self, answer: str, *, query: str = "") -> tuple[BlockUse, ...]:
        """Log which blocks of the latest frame for a query an answer used: those whose ids it cites, and those with
        which it shares more words than chance. Return an entry for each block, with `by` "" if it was not used.

        query: its words do not count. Logs nothing and returns () in a memory opened for reading only, or if
        `memory.calibration.answers` is 0. Raises UsageError if no recent frame was assembled for the query.
        """
        context = self._context
        storage, keep = context.storage, context.settings.calibration.answers
        frame = next((assembly for assembly in storage.assemblies.latest(_RECENT) if assembly.query == query), None)
        if frame is None:
            raise UsageError(
                "No frame was assembled for this query lately.",
                way_out="Give the query of the frame that was in front of the model.",
            )
        return self._add_titles(
            forecasting.log_uses(storage, answer, query, frame.selected, (), keep=keep, now=self._now)
        )

    def answers(self, limit: int = 100) -> tuple[BlockUse, ...]:
        """Return the latest blocks in models' contexts when they answered, newest first: those with a forecast, used or
        not, else only the used ones.
        """
        return self._add_titles(self._storage.block_uses.latest(bounds.count("A limit", limit)))

    def _add_titles(self, uses: Sequence[BlockUse]) -> tuple[BlockUse, ...]:
        blocks = self._storage.blocks.get({use.block_id for use in uses})
        return tuple(replace(use, title=blocks[use.block_id].title) if use.block_id in blocks else use for use in uses)

    def cases(
        self,
        *,
        settled: bool | None = None,
        in_bin: tuple[int, int] | None = None,
        by: ForecastGroup | None = None,
        value: str | None = None,
        limit: int = 2000,
    ) -> tuple[ForecastCase, ...]:
        """Return forecasts in full, latest first: of a bin of the reliability table (number from 0, count of bins), of
        a frame, category or relation type; settled: with a verdict, without a verdict, or both.
        """
        limit = bounds.count("A limit", limit)
        if in_bin is not None:
            bins = bounds.count("The number of bins", in_bin[1], least=1, most=1000)
            in_bin = bounds.count("A bin", in_bin[0], most=bins - 1), bins
        storage = self._storage
        rows = storage.forecasts.cases(decided=settled, in_bin=in_bin, by=by, value=value, limit=limit)
        blocks = storage.blocks.get({outcome.block_id for outcome, *_ in rows})
        return tuple(
            ForecastCase(
                outcome, blocks[outcome.block_id].title if outcome.block_id in blocks else "", asked, relations, made_at
            )
            for outcome, asked, relations, made_at in rows
        )

    # --- recalibration ----------------------------------------------------------------------------------

    def groups(self) -> OutcomeGroups:
        """Return forecasts and outcomes by frame, category and relation type of the edges walked."""
        rows = self._storage.forecasts.groups()
        return OutcomeGroups(tuple(OutcomeGroup(*row) for row in rows))

    def plan(self, method: Method = "isotonic") -> CalibrationPlan:
        """Return what recalibrating forecasts would do; raises UsageError for too few outcomes."""
        context = self._context
        return planning.plan_from_store(context.storage, method, context.settings.calibration, context.clock.now())

    def apply(self, plan: CalibrationPlan) -> Calibrated:
        """Apply a plan, journalled; raises UsageError if it is outdated."""
        return Calibrated(plan, planning.apply_plan(self._storage, plan, self._now))

    def forecast(self, scores: Sequence[float]) -> list[float]:
        """Return the present probabilities of being useful for these composite scores."""
        return forecasting.forecast_scores(self._storage, scores)

    # --- tuning -----------------------------------------------------------------------------------------

    def tune(
        self,
        frame: str,
        questions: Sequence[Question],
        *,
        method: tuning.SearchMethod = "grid",
        trials: int = 126,
        against: Weights | None = None,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> Tuning:
        """Search for better weights of an atomic frame, or compare `against` with its own; a proposal, applied by
        defining the frame with them.
        """
        definition, asked = self._read_questions(frame, questions, progress)
        return tuning.tune(
            definition, asked, method=method, trials=trials, against=against, seed=seed, progress=progress
        )

    def _read_questions(
        self, frame: str, questions: Sequence[Question], progress: Progress | None
    ) -> tuple[FrameDefinition, list[tuning.ScoredQuestion]]:
        """Return the frame, and every question with an answer in the store with its candidates."""
        context = self._context
        definition = registry.find(frame, context.definitions())
        if definition.is_composite:
            children = ", ".join(child.name for child in definition.children)
            raise UsageError(
                f"{definition.name} is made of {children}, which have weights of their own.",
                way_out=f"Tune {definition.children[0].name} or another of them.",
            )
        # Uncut, the pool is the same for all weights; a cut would depend on the score.
        whole = replace(definition, rule=replace(definition.rule, pool=_WHOLE_POOL))
        labelled = label_questions(questions, self._blocks_of)
        scored_questions = []
        with context.derived.searching() as sources:
            for number, case in enumerate(labelled):
                if progress is not None:
                    progress(number, len(labelled), "asking")
                text = case.question.text
                template = Template("raw", definition.name, text, context.clock.now())
                request = pipeline.FrameRequest(text)
                scored = pipeline.score_frame(whole, request, sources, context.settings, template, _count_nothing)
                scored_questions.append(tuning.score_candidates(case, scored.candidates))
        return definition, scored_questions

    # --- metrics and monitors ---------------------------------------------------------------------------

    def metrics(self, questions: Sequence[Question] = (), *, seed: int = 0, record: bool = False) -> Metrics:
        """Return the six success metrics (AMGS §13.1) and the monitors (§13.3), each with its last record; precision
        and recall need labelled questions.

        record: store the values for the next comparison.
        """
        storage, now = self._storage, self._now
        every = storage.assemblies.latest()
        _, outcomes, score = storage.forecasts.counts()
        importance = self._importance()
        seen = (
            *measures.retrieval(label_questions(questions, self._blocks_of), self._find, seed, len(questions)),
            measures.coherence(storage, every),
            measures.graph_stability(storage),
            measures.calibration(score, outcomes, self._context.settings.calibration.fewest_outcomes),
            measures.attention_stability(every),
            *measures.monitors(storage, every, importance),
        )
        before = {metric.name: storage.monitors.last(metric.name) for metric in seen}
        if record:
            with storage.transaction():
                storage.monitors.append(
                    MonitorValue(now, m.name, "", m.value, importance if m.name == measures.DRIFT else {}) for m in seen
                )
                row = JournalRow("record", as_utc(now).isoformat(), None, "{}")
                journal.write(storage, "metrics", now, "the values of now recorded", [row])
        rows = (replace(m, before=None if (last := before[m.name]) is None else last.value) for m in seen)
        return Metrics(tuple(rows), now, record)

    def _blocks_of(self, source: str) -> tuple[str, ...]:
        return self._storage.blocks.with_source(source)

    def _find(self, query: str, top_k: int) -> list[str]:
        context = self._context
        with context.derived.searching() as sources:
            request = waterfall.RetrievalRequest(query)
            result = waterfall.search(request, sources, top_k)
        return [hit.block.id for hit in result.hits]

    def _importance(self) -> dict[str, float]:
        """Return the centrality of the most central blocks, by id."""
        context = self._context
        with context.derived.reading() as state:
            view, scores = state.graph.view(), state.graph.measures().importance()
        best = [i for i in scores.argsort(kind="stable")[::-1][:_CENTRAL].tolist() if scores[i] > 0]
        numbers = {int(view.nodes[i]): float(scores[i]) for i in best}
        stored_blocks = context.storage.blocks.by_number(sorted(numbers))
        return {stored_block.block.id: numbers[stored_block.number] for stored_block in stored_blocks}


def _count_nothing(text: str) -> int:
    """Return 0, since tokens do not affect an order."""
    del text
    return 0
