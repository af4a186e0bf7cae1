"""Assemble frames in an open memory: reuse fresh pools of children, reinforce, log and store."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from amgs.api.context import MemoryPart
from amgs.calibration import forecasting
from amgs.clock import as_utc
from amgs.conversation.written import summarise_notes
from amgs.decay import hours_between
from amgs.frames import cache, pipeline, registry, why
from amgs.frames.assemble import Template
from amgs.frames.cache import ChildPool
from amgs.frames.registry import Definitions
from amgs.incoming import check_storable
from amgs.log import reinforcement as reinforcing
from amgs.retrieval.sources import Sources
from amgs.storage.frames import AssemblyRecord, CacheRow, WaterfallRow, version_of
from amgs.text.embedding import load
from amgs.text.language_model import TextModel
from amgs.types import Block, BlockFilter, EdgeKey, Frame, FrameDefinition, Weights


class Assembler(MemoryPart):
    """Assembles frames for `memory.assemble` and `memory.frames`."""

    def assemble(
        self,
        name: str,
        *,
        query: str = "",
        budget: int | None = None,
        weights: Weights | None = None,
        reinforce: bool = True,
        as_of: datetime | None = None,
    ) -> Frame:
        """Assemble a frame and log its scores as forecasts. Nothing that orders a later frame changes, unless
        `frames.reinforce_shown` is set.

        reinforce: False leaves no trace, as do a memory opened for reading only, and as_of.
        """
        check_storable(query)
        query = self._context.settings.ingest.mask(query)
        asked = pipeline.FrameRequest(query, budget, weights, None if as_of is None else as_utc(as_of))
        with self._context.derived.searching() as sources, self._context.derived.reading() as state:
            known = self._context.definitions(state)
            definition = registry.find(name, known)
            if query:
                load(self._context.embedder, "the encoder")  # before the clocks of the layers start
            frame, pools = self._build_frame(definition, asked, known, sources)
            fitted = self._storage.forecasts.read_fit()
            logged = reinforce and as_of is None and not self._storage.read_only
            walked: Sequence[EdgeKey] = ()
            if logged and (reached := [c.block.id for c in frame.selected if "graph" in c.layers]):
                numbers = state.blocks.numbers_of([c.block.id for c in frame.selected])
                walked = reinforcing.find_walked_edges(state.graph.view(), reached, numbers)
        if definition.assembly == "summary" and self._context.model is not None:
            frame = self._rewrite_summary(frame, definition, self._context.model)
        if asked.as_of is None and weights is None:
            frame = forecasting.add_promise(frame, known, fitted)
        return self._log_assembly(frame, asked, pools, known, fitted.curve, walked) if logged else frame

    def _rewrite_summary(self, frame: Frame, definition: FrameDefinition, model: TextModel) -> Frame:
        """Return a summary in the words of the user's language model, as far as it is supported."""
        chosen = [candidate.block for candidate in frame.selected]
        summaries = (
            summarise_notes([block.content for block in chosen], frame.query, frame.budget, model) if chosen else {}
        )
        written = {chosen[place].id: text for place, text in summaries.items()}
        return pipeline.rewrite_summary(frame, definition, written, model.name, self._context.count_tokens)

    def _log_assembly(
        self,
        frame: Frame,
        asked: pipeline.FrameRequest,
        pools: Mapping[str, ChildPool],
        known: Definitions,
        curve: str | None,
        walked: Sequence[EdgeKey],
    ) -> Frame:
        """Log the frame with its forecasts, calibrated by a curve; return it.

        A frame that reinforced its blocks names the operation. walked: edges that led to its blocks.
        """
        chosen = {c.block.id: c for c in frame.selected}
        with self._storage.log():
            forecasting.log_forecasts(self._storage, frame, tuple(chosen.values()), walked, curve)
            self._record(frame, asked, pools, known)
            self._storage.scores.put(frame.name, {i: c.score for i, c in chosen.items()}, frame.as_of)
            if not chosen or not self._context.settings.frames.reinforce_shown:
                return frame
            done = reinforcing.reinforce_shown(self._storage, list(chosen), frame.name, frame.id, frame.as_of, walked)
            return replace(frame, remarks=(*frame.remarks, f"{done.summary} (operation {done.id})"))
        return replace(frame, remarks=(*frame.remarks, "it is not logged: the disk takes nothing"))

    def _build_frame(
        self, definition: FrameDefinition, request: pipeline.FrameRequest, known: Definitions, sources: Sources
    ) -> tuple[Frame, dict[str, ChildPool]]:
        """Return a frame, and the pools of children with a refresh time; fresh pools are reused, which the frame's
        remarks say.
        """
        context = self._context
        requests = {
            child.name: asked
            for child in (registry.leaves(definition, known) if definition.is_composite else ())
            if child.refresh_hours > 0
            and request.as_of is None
            # A pool that depends on the question would be of use to this one alone.
            and not (asked := pipeline.derive_request(definition, child, request)).query
        }
        keys = {name: cache.pool_key(asked, definition) for name, asked in requests.items()}
        rows = context.storage.frame_cache.get(keys) if keys else {}
        pools = {
            name: self._pool(definition, known[name], asked, rows.get(name), known, sources)
            for name, asked in requests.items()
        }
        frame = pipeline.build(
            definition,
            request,
            known,
            sources,
            context.settings,
            context.count_tokens,
            {name: pool.scored for name, pool in pools.items()},
        )
        remarks = [
            f"{name} was scored {_span(pool.age_hours)} ago, and is reused for {known[name].refresh_hours:g} h"
            for name, pool in pools.items()
            if pool.made_by is not None
        ]
        return replace(frame, remarks=(*frame.remarks, *remarks)), pools

    def _pool(
        self,
        parent: FrameDefinition,
        child: FrameDefinition,
        asked: pipeline.FrameRequest,
        row: CacheRow | None,
        known: Definitions,
        sources: Sources,
    ) -> ChildPool:
        if row is not None and not self.stale(row, child, known):
            pool_pair = cache.decode_pool(row.assembly, lambda ids: _blocks(ids, sources))
            statuses = child.rule.filter.statuses
            if pool_pair is not None and all(
                c.block.status in statuses and not c.block.superseded for c in pool_pair[0].candidates
            ):
                age = hours_between(row.computed_at, self._now)
                return ChildPool(pool_pair[0], pool_pair[1], age)
        return ChildPool(self.score_pool(parent, child, asked, sources))

    def score_pool(
        self, parent: FrameDefinition, child: FrameDefinition, asked: pipeline.FrameRequest, sources: Sources
    ) -> pipeline.ScoredPool:
        context = self._context
        template = Template(parent.assembly, parent.name, asked.query, sources.clock.now())
        return pipeline.score_frame(child, asked, sources, context.settings, template, context.count_tokens)

    def stale(self, row: CacheRow, definition: FrameDefinition, known: Definitions) -> str:
        of_self = any(atom.rule.gather == "identity" for atom in registry.leaves(definition, known))
        with self._context.derived.reading() as state:
            structure = state.structure
        cached_state = cache.CachedState(row.computed_at, row.structure, row.definition, json.loads(row.identity))
        now = cache.CachedState(
            self._now, structure, version_of(registry.tree(definition, known)), self._identity() if of_self else {}
        )
        return cache.stale_reason(cached_state, now, definition, hours=definition.refresh_hours, of_self=of_self)

    def _identity(self) -> dict[str, float]:
        """Return the centrality of every block of the self, by id."""
        with self._context.derived.reading() as state:
            numbers = state.blocks.numbers(BlockFilter(self_only=True, current=True))
            importance = state.graph.importances(numbers)
            return dict(zip(state.blocks.ids(numbers).tolist(), importance.tolist(), strict=True))

    def _record(
        self, frame: Frame, request: pipeline.FrameRequest, pools: Mapping[str, ChildPool], known: Definitions
    ) -> None:
        """Log and store an assembly, inside the transaction that logs its use."""
        storage = self._storage
        definition = registry.find(frame.name, known)
        version = version_of(registry.tree(definition, known))
        serial = storage.highest("assemblies", "serial") + 1
        self._keep(pools, definition, request, known, serial, frame.as_of)
        storage.assemblies.append(
            AssemblyRecord(
                serial,
                frame.id,
                frame.name,
                frame.query,
                frame.as_of,
                frame.budget,
                request.weights,
                frame.tokens,
                frame.entropy_bits,
                tuple(c.block.id for c in frame.selected),
                version,
                storage.highest("memory_blocks", "number"),
            )
        )
        keep = self._context.settings.frames.waterfalls
        self._context.searches.write(self._context.settings.retrieval.searches)
        storage.waterfalls.put(WaterfallRow(serial, why.encode_candidates(frame) if keep else "{}"), keep)
        if definition.refresh_hours > 0:
            of_self = any(atom.rule.gather == "identity" for atom in registry.leaves(definition, known))
            row = CacheRow(
                frame.name,
                cache.request_key(request),
                cache.encode_frame(frame),
                frame.as_of,
                storage.structure_counter,
                version,
                json.dumps(self._identity() if of_self else {}),
            )
            storage.frame_cache.put(row)

    def _keep(
        self,
        pools: Mapping[str, ChildPool],
        parent: FrameDefinition,
        request: pipeline.FrameRequest,
        known: Definitions,
        serial: int,
        at: datetime,
    ) -> None:
        """Store the pools scored by this assembly, replacing earlier ones."""
        storage = self._storage
        for name, pool in pools.items():
            if pool.made_by is not None:
                continue
            child = known[name]
            asked = pipeline.derive_request(parent, child, request)
            storage.frame_cache.forget_like(name, cache.POOL_PREFIX)
            row = CacheRow(
                name,
                cache.pool_key(asked, parent),
                cache.encode_pool(pool.scored, serial),
                at,
                storage.structure_counter,
                version_of(registry.tree(child, known)),
                json.dumps(self._identity() if child.rule.gather == "identity" else {}),
            )
            storage.frame_cache.put(row)


def _blocks(ids: Sequence[str], sources: Sources) -> dict[str, Block]:
    """Return the blocks with these ids that exist, by id."""
    numbers = list(sources.blocks.numbers_of(ids).values())
    return {stored_block.block.id: stored_block.block for stored_block in sources.blocks.read_blocks(numbers)}


def _span(hours: float) -> str:
    """Return a time in minutes if below an hour, else in hours."""
    return f"{hours * 60:.0f} min" if hours < 1 else f"{hours:.1f} h"
