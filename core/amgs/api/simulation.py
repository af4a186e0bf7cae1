"""`memory.simulation`: what a change, time or noise would come to; it reads a memory and never writes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

import numpy as np

from amgs.api.context import MemoryContext
from amgs.calibration.questions import Labelled, Question, label
from amgs.calibration.questions import recall as recall_of
from amgs.clock import as_utc, earlier
from amgs.errors import UsageError
from amgs.graph.centrality import BRIEF_BYTES
from amgs.identity import block_id, canonical
from amgs.lifecycle import consolidate
from amgs.lifecycle.change import Change, joined
from amgs.lifecycle.proposals import Proposal
from amgs.lifecycle.prune_criteria import signals
from amgs.retrieval import waterfall
from amgs.simulation import enhance, evolve, insert, prune, stability
from amgs.simulation.access import AccessWorld, world
from amgs.simulation.draws import Mask, spread
from amgs.storage.block_columns import BlockFacts
from amgs.storage.blocks import NumberedBlock
from amgs.types import Block, BlockFilter, Edge, Progress

_LIVE = BlockFilter()
_K = 10
_DEEP = 100
_MEASURED_DAYS = 30.0
_UNUSED = 5.0
"""Accesses a day where the log of the last thirty days has none."""


class Simulation:
    """See the package."""

    def __init__(self, context: MemoryContext, means: Callable[[], consolidate.ConsolidationInputs]) -> None:
        """means: what consolidation would plan with."""
        self._context = context
        self._means = means

    def enhance(
        self,
        proposals: Sequence[Proposal] = (),
        *,
        days: float = 30.0,
        draws: int = 64,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> enhance.EnhancementForecast:
        """What the graph comes to after `days` without the proposals of enhancement and with them."""
        change = joined(p.change for p in proposals) if proposals else Change()
        return enhance.simulate(
            enhance.scene(self._context.storage),
            change,
            now=self._context.clock.now(),
            days=days,
            draws=draws,
            seed=seed,
            progress=progress,
        )

    def evolve(
        self,
        *,
        days: float = 90.0,
        draws: int = 64,
        seed: int = 0,
        steps: int = 6,
        rate: float | None = None,
        progress: Progress | None = None,
    ) -> evolve.Evolution:
        """The memory after `days` of decay and of `rate` accesses a day, as the last month had them without one."""
        facts, under = self._ground(rate)
        threshold = self._context.settings.decay.threshold
        lived = evolve.evolve(
            under, days=days, draws=draws, seed=seed, steps=steps, threshold=threshold, progress=progress
        )
        places = evolve.undecided(lived)
        titles = self._titles(facts, places)
        return evolve.Evolution(
            days=days,
            draws=draws,
            seed=seed,
            rate=under.rate,
            threshold=threshold,
            checkpoints=lived.checkpoints,
            sure=int((lived.survives >= 0.95).sum()),
            lost=int((lived.survives <= 0.05).sum()),
            open=tuple(
                evolve.Fate(
                    str(facts.ids[i]),
                    titles[str(facts.ids[i])],
                    round(float(lived.survives[i]), 6),
                    spread(lived.uses[:, i]),
                )
                for i in places
            ),
            top_stays=lived.top_stays,
        )

    def prune(
        self,
        *,
        thresholds: Sequence[float] = (),
        days: float = 180.0,
        cycle: float = 30.0,
        draws: int = 32,
        seed: int = 0,
        rate: float | None = None,
        lowest: float | None = None,
        questions: Sequence[Question] = (),
        progress: Progress | None = None,
    ) -> prune.PruningFutures:
        """Ways to prune beside each other: each threshold of relevance with each number of the other signs."""
        context = self._context
        facts, under = self._ground(rate)
        with context.derived.reading() as state:
            view, scores = state.graph.view(), state.graph.measures().importance()
        central = dict(zip(view.nodes.tolist(), scores.tolist(), strict=True))
        own = context.settings.pruning
        tried = prune.ways(tuple(thresholds) or (own.relevance / 5, own.relevance, min(1.0, own.relevance * 4)))
        asked = self._asked(questions, progress)
        found = prune.futures(
            under,
            signals(facts, central, context.storage.forecasts.judged(), context.clock.now()),
            tried,
            own,
            lowest=lowest or 0.0,
            days=days,
            cycle=cycle,
            draws=draws,
            seed=seed,
            recall=None if not asked else lambda gone: _recall(asked, facts, gone),
            progress=progress,
        )
        return replace(found, questions=len(asked))

    def insert(
        self, text: str, *, days: float = 30.0, draws: int = 64, seed: int = 0, progress: Progress | None = None
    ) -> insert.Insertion:
        """Where a text would take hold, if it were ingested and consolidated now; of a text that is there already, how
        its links will last.
        """
        context = self._context
        content = canonical(text)
        if not content:
            raise UsageError("An empty text cannot be inserted.", way_out="Give some words.")
        now = context.clock.now()
        here = enhance.scene(context.storage)
        key = block_id(content)
        known = key in here.titles and context.storage.blocks.get([key])[key].status == "consolidated"
        if known:
            block = context.storage.blocks.get([key])[key]
            edges: tuple[Edge, ...] = tuple(
                e
                for e in context.storage.edges.touching([key])
                if e.source_id in here.titles and e.target_id in here.titles
            )
        else:
            last, *_ = context.storage.assemblies.standing()
            plan = consolidate.plan(
                [NumberedBlock(last + 1, Block(key, content, now, now), 0)],
                consolidate.link_context(context.storage),
                self._means(),
                now=now,
                change_counter=context.storage.change_counter,
            )
            block, edges = plan.items[0].block, plan.items[0].edges
        return insert.insert(
            key,
            block.title,
            block.category,
            edges,
            here,
            now=now,
            days=days,
            draws=draws,
            seed=seed,
            known=known,
            progress=progress,
        )

    def stability(
        self,
        *,
        noise: float = 0.3,
        loss: float = 0.1,
        days: float = 30.0,
        paces: Sequence[float] = (0.5, 1.0, 2.0, 4.0),
        draws: int = 32,
        seed: int = 0,
        progress: Progress | None = None,
    ) -> stability.Stability:
        """How firm centrality and components stand under noise on the edges, today and after `days` at each pace."""
        facts, under = self._ground(0.0)
        found = stability.shake(
            under, noise=noise, loss=loss, days=days, paces=paces, draws=draws, seed=seed, progress=progress
        )
        worst = np.lexsort((np.arange(len(found.top)), found.firm.mean(axis=0)))[:10].tolist()
        titles = self._titles(facts, [found.top[i] for i in worst])
        return stability.Stability(
            noise=noise,
            loss=loss,
            draws=draws,
            seed=seed,
            scenarios=found.scenarios,
            least=tuple(
                stability.Firmness(
                    str(facts.ids[found.top[i]]),
                    titles[str(facts.ids[found.top[i]])],
                    tuple(round(float(s), 6) for s in found.firm[:, i]),
                )
                for i in worst
            ),
            components_now=found.components_now,
        )

    # --- what they rest on ------------------------------------------------------------------------------

    def _ground(self, rate: float | None) -> tuple[BlockFacts, AccessWorld]:
        context, now = self._context, self._context.clock.now()
        facts = context.storage.block_columns.facts(_LIVE)
        if rate is None:
            since = earlier(as_utc(now), timedelta(days=_MEASURED_DAYS))
            events = context.storage.reinforcements.count(since=since)
            rate = events / _MEASURED_DAYS or _UNUSED
        with context.derived.reading() as state:
            view = state.graph.view()
        return facts, world(facts, view, now, rate, context.storage.block_columns.brief(BRIEF_BYTES))

    def _titles(self, facts: BlockFacts, places: Sequence[int]) -> dict[str, str]:
        found = self._context.storage.blocks.get([str(facts.ids[i]) for i in places])
        return {i: block.title for i, block in found.items()}

    def _asked(
        self, questions: Sequence[Question], progress: Progress | None
    ) -> list[tuple[tuple[str, ...], Labelled]]:
        """Each question that has an answer, with its best hits, deep enough to lose some."""
        context = self._context
        asked = []
        labelled = label(questions, lambda source: context.storage.blocks.with_source(source))
        for number, one in enumerate(labelled):
            if progress is not None:
                progress(number, len(labelled), "asking")
            with context.derived.searching() as sources:
                request = waterfall.RetrievalRequest(one.question.text)
                hits = waterfall.search(request, sources, _DEEP).hits
            asked.append((tuple(hit.block.id for hit in hits), one))
        return asked


def _recall(asked: Sequence[tuple[tuple[str, ...], Labelled]], facts: BlockFacts, gone: Mask) -> float:
    """Mean recall@10 when the pruned blocks fall out of the hits and others move up."""
    lost = set(facts.ids[gone].tolist())
    return float(np.mean([recall_of([i for i in hits if i not in lost][:_K], one) for hits, one in asked]))
