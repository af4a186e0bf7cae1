"""`memory.frames`, what has been assembled: caches, history, comparisons, replays, and the user's own frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import MappingProxyType

from amgs import bounds
from amgs.api.assembler import Assembler
from amgs.api.context import MemoryContext, MemoryPart
from amgs.calibration import coverage
from amgs.clock import Clock, FixedClock, as_utc
from amgs.decay import hours_between
from amgs.errors import StoreCorruptError, UsageError
from amgs.frames import as_of, cache, pipeline, registry, shipping, why
from amgs.frames import why as following
from amgs.frames.compare import compare
from amgs.frames.registry import Definitions
from amgs.frames.results import CachedFrame, FrameComparison, History, PastAssembly, Replay
from amgs.storage.assemblies import AssemblyRecord
from amgs.storage.store import Storage
from amgs.types import Explanation, Frame, FrameDefinition, Weights

_SHORTEST_PREFIX = 4
_LAST = "frame:last"


@dataclass(frozen=True, slots=True)
class ComparisonSide:
    """One side of a comparison: a frame by name, or a past assembly by its id.

    at: assemble it as of this instant; one to come moves only the clock.
    """

    name: str
    query: str = ""
    budget: int | None = None
    weights: Weights | None = None
    at: datetime | None = None

    @property
    def label(self) -> str:
        told = [self.name]
        if self.weights is not None:
            told.append("with its own weights")
        if self.at is not None:
            told.append(f"at {as_utc(self.at):%Y-%m-%d %H:%M}")
        return " ".join(told)


class Frames(MemoryPart):
    """See the module."""

    def __init__(self, context: MemoryContext) -> None:
        super().__init__(context)
        self._assembler = Assembler(context)

    # --- the cache --------------------------------------------------------------------------------------

    def cached(
        self, name: str, *, query: str = "", budget: int | None = None, weights: Weights | None = None
    ) -> CachedFrame:
        """The kept assembly of a frame while it is fresh, else a new one (AMGS §10.2).

        Each frame is fresh for its refresh_hours; SELF for the hours in the settings, whatever changes but the
        identity itself. A memory opened for reading only is not written to.
        """
        known = self._context.definitions()
        definition = registry.find(name, known)
        request = pipeline.FrameRequest(query, budget, weights)
        row = self._storage.frame_cache.get(definition.name, cache.request_key(request))
        age = None if row is None else hours_between(row.computed_at, self._now)
        if row is None:
            because = "nothing was kept for this request"
        else:
            because = self._assembler.stale(row, definition, known)
            if not because:
                frame = self._unpacked(row.assembly, definition, known)
                if frame is not None:
                    if weights is None:
                        storage = self._storage
                        frame = coverage.promised(frame, known, storage.forecasts.fitted(storage.change_counter))
                    return CachedFrame(frame, True, f"fresh: {age:.2f} hours old", age)
                because = "a block of it has left the memory"
        return CachedFrame(
            self._assembler.assemble(definition.name, query=query, budget=budget, weights=weights), False, because, age
        )

    def _unpacked(self, text: str, definition: FrameDefinition, known: Definitions) -> Frame | None:
        """The kept frame; None when one of its blocks would no longer be a candidate."""
        statuses = {s for atom in registry.leaves(definition, known) for s in atom.rule.filter.statuses}
        try:
            frame = cache.decode(text, lambda ids: self._storage.blocks.get(ids))
        except StoreCorruptError:
            return None
        fit = all(c.block.status in statuses and not c.block.superseded for c in frame.selected)
        return frame if fit else None

    def remember(self, frame: Frame) -> None:
        """Keep a frame, with the candidates that did not get in, as the one assembled last; nothing in a memory
        opened for reading only.
        """
        if not self._storage.read_only:
            with self._storage.log():
                self._storage.meta.keep(_LAST, cache.encode(frame, whole=True))

    def last(self) -> Frame | None:
        """The frame that was remembered; None where there is none, or where one of its blocks has left."""
        text = self._storage.meta.kept(_LAST).get(_LAST)
        if text is None:
            return None
        try:
            return cache.decode(text, lambda ids: self._storage.blocks.get(ids))
        except StoreCorruptError:
            return None

    # --- definitions ------------------------------------------------------------------------------------

    def define(self, definition: FrameDefinition) -> None:
        """Register a frame or change one; raises FrameCycleError when it would contain itself."""
        registry.register(definition, self._context.definitions())
        with self._storage.transaction():
            self._storage.frames.put([definition])

    def delete(self, name: str) -> FrameDefinition:
        """Take a frame of the user's own out; past assemblies of it can still be replayed. A frame that ships with the
        engine gets its shipped definition back, which is returned.

        Raises UnknownFrameError, and UsageError for a frame that another contains.
        """
        known = self._context.definitions()
        definition = registry.find(name, known)
        if definition.name in registry.by_name(shipping.DEFAULTS):
            return self.reset(name)
        parents = [d.name for d in known.values() if any(c.name == definition.name for c in d.children)]
        if parents:
            raise UsageError(
                f"{definition.name} is a child of {', '.join(parents)}.",
                way_out=f"Define or delete {parents[0]} first.",
            )
        with self._storage.transaction():
            self._storage.frames.delete([definition.name])
            self._storage.frame_cache.forget(definition.name)
        return definition

    def origins(self) -> tuple[shipping.Origin, ...]:
        """Where each registered definition comes from: shipped, shipped and changed here, or the operator's own."""
        return shipping.origins(self._storage, self._context.definitions(), shipping.DEFAULTS)

    def reset(self, name: str) -> FrameDefinition:
        """Give a shipped frame its shipped definition back.

        Raises UnknownFrameError, UsageError for a frame of the operator's own, FrameCycleError where the shipped one
        would now contain itself.
        """
        known = self._context.definitions()
        wanted = registry.find(name, known).name
        ours = registry.by_name(shipping.DEFAULTS).get(wanted)
        if ours is None:
            raise UsageError(
                f"{wanted} did not ship with the engine.",
                way_out="A frame of your own has no shipped definition; change the one it has.",
                about="frame",
            )
        registry.register(ours, known)
        with self._storage.transaction():
            shipping.reset(self._storage, ours)
        return ours

    # --- the past ---------------------------------------------------------------------------------------

    def history(self, name: str | None = None, limit: int = 20) -> History:
        """The latest assemblies, of one frame when it is named."""
        limit = bounds.count("A limit", limit)
        wanted = None if name is None else name.strip().upper()
        log = self._storage.assemblies
        with self._storage.snapshot():
            return History(tuple(_line(one) for one in log.latest(limit, name=wanted)), log.count(name=wanted))

    def replay(self, assembly_id: str) -> Replay:
        """Make a past assembly again as of its instant, and say whether it came out equal and if not, why.

        The store is copied into memory and everything later is taken back there; the memory itself is untouched.
        Raises UsageError for an id that no assembly or more than one has.
        """
        record = self._find(assembly_id)
        frame, _ = self._again(record)
        then, now = record.selected, tuple(c.block.id for c in frame.selected)
        equal = then == now
        return Replay(
            _line(record),
            frame,
            equal,
            tuple(i for i in then if i not in set(now)),
            tuple(i for i in now if i not in set(then)),
            () if equal else self._why_not(record, then, now),
        )

    def _find(self, assembly_id: str) -> AssemblyRecord:
        wanted = assembly_id.strip().lower()
        short = len(wanted) < _SHORTEST_PREFIX
        found = () if short else self._storage.assemblies.matching(wanted)
        ids = list(dict.fromkeys(one.id for one in found))
        if not ids:
            raise UsageError(
                f"No assembly id starts with {assembly_id!r}.",
                way_out="Choose one of the logged assemblies.",
                about="assembly",
            )
        if len(ids) > 1:
            raise UsageError(
                f"{assembly_id!r} is the start of {', '.join(ids[:4])}.", way_out="Give a longer part of the id."
            )
        return found[0]

    def _again(self, record: AssemblyRecord) -> tuple[Frame, Definitions]:
        known = registry.by_name(self._storage.assemblies.version(record.definition))
        known = {name: known[name] for name in registry.order(known)}
        request = pipeline.FrameRequest(record.query, record.budget, record.weights)
        with as_of.rewind(self._storage, as_of.Moment.of(record)) as storage:
            pools = self._pools_again(record, request, known)
            frame = self._build(record.name, request, known, storage, FixedClock(record.as_of), pools)
        return frame, known

    def _pools_again(
        self, record: AssemblyRecord, request: pipeline.FrameRequest, known: Definitions
    ) -> dict[str, pipeline.ScoredPool]:
        """The pools that an assembly took over, scored again in the store as it was when they were."""
        context, parent = self._context, registry.find(record.name, known)
        pools = {}
        for serial, made in context.storage.assemblies.by_serial(set(record.kept.values())).items():
            with as_of.rewind(context.storage, as_of.Moment.of(made)) as storage:
                derived = context.derived.over(storage, FixedClock(made.as_of))
                try:
                    for name in (n for n, by in record.kept.items() if by == serial):
                        asked = pipeline.asked_in(parent, known[name], request)
                        with derived.searching() as sources:
                            pools[name] = self._assembler.scored(parent, known[name], asked, sources)
                finally:
                    derived.close()
        return pools

    def _build(
        self,
        name: str,
        request: pipeline.FrameRequest,
        known: Definitions,
        storage: Storage,
        clock: Clock,
        pools: Mapping[str, pipeline.ScoredPool] = MappingProxyType({}),
    ) -> Frame:
        """A frame from another store than the open one, which is left as it is."""
        context = self._context
        derived = context.derived.over(storage, clock)
        definition = registry.find(name, known)
        try:
            with derived.searching() as sources:
                return pipeline.build(
                    definition, request, known, sources, context.settings, context.count_tokens, pools
                )
        finally:
            derived.close()

    def _why_not(self, record: AssemblyRecord, then: Sequence[str], now: Sequence[str]) -> tuple[str, ...]:
        storage = self._storage
        reasons = []
        if record.setup != self._context.setup:
            reasons.append(f"the embedder or the settings are others: {record.setup} then, {self._context.setup}")
        gone = set(then) - storage.blocks.existing(then)
        if gone:
            reasons.append(f"{len(gone)} of its blocks are no longer in the store")
        _, _, undone, _ = storage.assemblies.standing()
        if undone > record.undone:
            reasons.append(f"{undone - record.undone} operations were undone since; what they did is lost")
        if set(then) == set(now):
            reasons.append("the blocks are the same, in another order")
        if not reasons:
            reasons.append("scores differ: a clock was moved, or a change was made that no journal holds")
        return tuple(reasons)

    def why(
        self,
        name: str,
        query: str,
        block: str,
        *,
        budget: int | None = None,
        weights: Weights | None = None,
        child: str | None = None,
        made: Frame | None = None,
    ) -> Explanation:
        """Why a block is in a frame, or where it fell out. Leaves no trace.

        child: the part of a composite that is asked about. made: the frame as it was made for this request, which
        is explained; else it is assembled again, and what was reinforced meanwhile may stand elsewhere.
        """
        context = self._context
        wanted = context.block(block)
        number = context.storage.blocks.numbers_of([wanted.id])[wanted.id]
        known = context.definitions()
        definition = registry.find(name, known)
        request = pipeline.FrameRequest(query, budget, weights)
        with context.derived.searching() as sources:
            return following.why(
                definition, request, known, sources, context.settings, context.count_tokens, wanted, number, child, made
            )

    def why_then(self, assembly_id: str, block: str) -> Explanation:
        """Why a block was in a past assembly or not, from the candidates that were kept of it. Leaves no trace.

        Raises UsageError for an id that no assembly or more than one has, and where its candidates are not kept.
        """
        record = self._find(assembly_id)
        kept = self._storage.waterfalls.get(record.serial)
        if kept is None:
            number = self._context.settings.frames.waterfalls
            raise UsageError(
                f"The candidates of assembly {record.id} are no longer kept; those of the latest {number} are.",
                title="Not kept",
                way_out="Replay the assembly; `memory.frames.waterfalls` in the settings says how many are kept.",
            )
        return why.explain(record, kept, self._context.block(block))

    def compare(self, left: ComparisonSide, right: ComparisonSide) -> FrameComparison:
        """Two assemblies beside each other: by name and query, with other weights, at other instants, or past
        ones by their ids. Nothing is reinforced.
        """
        return compare(self._side(left), self._side(right), labels=(left.label, right.label))

    def _side(self, asked: ComparisonSide) -> Frame:
        known = self._context.definitions()
        if asked.name.strip().upper().replace("-", "_") in known:
            return self._at(asked, pipeline.FrameRequest(asked.query, asked.budget, asked.weights), known)
        return self._again(self._find(asked.name))[0]

    def _at(self, asked: ComparisonSide, request: pipeline.FrameRequest, known: Definitions) -> Frame:
        context = self._context
        now = context.clock.now()
        at = now if asked.at is None else as_utc(asked.at)
        if at != now:
            with as_of.rewind(context.storage, as_of.Moment(at)) as storage:
                return self._build(asked.name, request, known, storage, FixedClock(at))
        definition = registry.find(asked.name, known)
        with context.derived.searching() as sources:
            return pipeline.build(definition, request, known, sources, context.settings, context.count_tokens)


def _line(one: AssemblyRecord) -> PastAssembly:
    return PastAssembly(
        one.id, one.name, one.query, one.as_of, one.budget, one.tokens, one.entropy_bits, len(one.selected), one.weights
    )
