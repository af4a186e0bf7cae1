"""`memory.frames`: cached and past assemblies, comparisons, and the user's own frames."""

from __future__ import annotations

from dataclasses import dataclass

from amgs import bounds
from amgs.api.assembler import Assembler
from amgs.api.context import MemoryContext, MemoryPart
from amgs.calibration import forecasting
from amgs.decay import hours_between
from amgs.errors import StoreCorruptError, UsageError
from amgs.frames import cache, pipeline, registry, shipping, why
from amgs.frames import why as following
from amgs.frames.compare import CachedFrame, FrameComparison, History, PastAssembly, compare
from amgs.frames.registry import Definitions
from amgs.log import journal
from amgs.storage.frames import AssemblyRecord
from amgs.types import Explanation, Frame, FrameDefinition, Weights

_SHORTEST_PREFIX = 4
_LAST = "frame:last"


@dataclass(frozen=True, slots=True)
class ComparisonSide:
    """One side of a comparison: a frame, with query, budget and weights."""

    name: str
    query: str = ""
    budget: int | None = None
    weights: Weights | None = None

    @property
    def label(self) -> str:
        return self.name if self.weights is None else f"{self.name} with its own weights"


class Frames(MemoryPart):
    """`memory.frames`: cached and past assemblies, comparisons, and the user's own frames."""

    def __init__(self, context: MemoryContext) -> None:
        super().__init__(context)
        self._assembler = Assembler(context)

    # --- the cache --------------------------------------------------------------------------------------

    def cached(
        self, name: str, *, query: str = "", budget: int | None = None, weights: Weights | None = None
    ) -> CachedFrame:
        """Return the stored assembly of a frame while it is fresh, else assemble it anew (AMGS §10.2).

        A frame is fresh for its refresh_hours, unless its definition or any block or edge changes; for SELF and other
        frames of the identity, only changes of the identity count. Writes nothing in a memory opened for reading only.
        """
        known = self._context.definitions()
        definition = registry.find(name, known)
        request = pipeline.FrameRequest(query, budget, weights)
        row = self._storage.frame_cache.get({definition.name: cache.request_key(request)}).get(definition.name)
        age = None if row is None else hours_between(row.computed_at, self._now)
        if row is None:
            because = "nothing was stored for this request"
        else:
            because = self._assembler.stale(row, definition, known)
            if not because:
                frame = self._decode_frame(row.assembly, definition, known)
                if frame is not None:
                    if weights is None:
                        storage = self._storage
                        frame = forecasting.add_promise(frame, known, storage.forecasts.read_fit())
                    return CachedFrame(frame, True, f"fresh: {age:.2f} hours old", age)
                because = "a block of it has left the memory"
        return CachedFrame(
            self._assembler.assemble(definition.name, query=query, budget=budget, weights=weights), False, because, age
        )

    def _decode_frame(self, text: str, definition: FrameDefinition, known: Definitions) -> Frame | None:
        """Return the stored frame; None if one of its blocks would no longer be a candidate."""
        statuses = {s for atom in registry.leaves(definition, known) for s in atom.rule.filter.statuses}
        try:
            frame = cache.decode_frame(text, lambda ids: self._storage.blocks.get(ids))
        except StoreCorruptError:
            return None
        fit = all(c.block.status in statuses and not c.block.superseded for c in frame.selected)
        return frame if fit else None

    def remember(self, frame: Frame) -> None:
        """Store a frame, with its rejected candidates, as the last assembled frame; does nothing in a memory opened for
        reading only.
        """
        if not self._storage.read_only:
            with self._storage.log():
                self._storage.meta.keep(_LAST, cache.encode_frame(frame, whole=True))

    def last(self) -> Frame | None:
        """Return the frame assembled last; None if there is none, or if one of its blocks was removed."""
        text = self._storage.meta.read_saved(_LAST).get(_LAST)
        if text is None:
            return None
        try:
            return cache.decode_frame(text, lambda ids: self._storage.blocks.get(ids))
        except StoreCorruptError:
            return None

    # --- definitions ------------------------------------------------------------------------------------

    def define(self, definition: FrameDefinition) -> None:
        """Create or change a frame; raises FrameCycleError if it would contain itself. `undo` reverts it."""
        known = self._context.definitions()
        registry.register(definition, known)
        before = known.get(definition.name)
        if before != definition:
            with self._storage.transaction():
                self._storage.frames.put([definition])
                self._note("defined", before, definition)

    def _note(self, done: str, before: FrameDefinition | None, after: FrameDefinition | None) -> None:
        name = next(definition.name for definition in (after, before) if definition is not None)
        row = journal.frame_row(name, before, after)
        journal.write(self._storage, "frame", self._now, f"{name} {done}", [row])

    def delete(self, name: str) -> FrameDefinition:
        """Delete a user's frame; its past assemblies stay in the history. A changed shipped frame gets its shipped
        definition back, which is returned.

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
            self._note("deleted", definition, None)
        return definition

    def origins(self) -> tuple[shipping.Origin, ...]:
        """Return the origin of each definition: shipped, shipped and changed here, or the user's own."""
        return shipping.origins(self._storage, self._context.definitions(), shipping.DEFAULTS)

    def reset(self, name: str) -> FrameDefinition:
        """Restore the shipped definition of a frame. Raises UnknownFrameError, UsageError for a user's own frame,
        FrameCycleError if the shipped definition would now contain itself.
        """
        known = self._context.definitions()
        wanted = registry.find(name, known).name
        ours = registry.by_name(shipping.DEFAULTS).get(wanted)
        if ours is None:
            raise UsageError(
                f"{wanted} did not ship with the engine.",
                way_out="A frame of your own has no shipped definition; change its present definition.",
                about="frame",
            )
        registry.register(ours, known)
        if known[wanted] != ours:
            with self._storage.transaction():
                shipping.reset(self._storage, ours)
                self._note("as it shipped", known[wanted], ours)
        return ours

    # --- the past ---------------------------------------------------------------------------------------

    def history(self, name: str | None = None, limit: int = 20) -> History:
        """Return the latest assemblies, of all frames or of the one named."""
        limit = bounds.count("A limit", limit)
        wanted = None if name is None else name.strip().upper()
        log = self._storage.assemblies
        with self._storage.snapshot():
            return History(tuple(_line(record) for record in log.latest(limit, name=wanted)), log.count(name=wanted))

    def _find(self, assembly_id: str) -> AssemblyRecord:
        wanted = assembly_id.strip().lower()
        short = len(wanted) < _SHORTEST_PREFIX
        records = () if short else self._storage.assemblies.matching(wanted)
        ids = list(dict.fromkeys(record.id for record in records))
        if not ids:
            raise UsageError(
                f"No assembly id starts with {assembly_id!r}.", way_out="Choose a logged assembly.", about="assembly"
            )
        if len(ids) > 1:
            raise UsageError(
                f"{assembly_id!r} is the start of {', '.join(ids[:4])}.", way_out="Give a longer part of the id."
            )
        return records[0]

    def why(
        self,
        name: str,
        query: str,
        block: str,
        *,
        budget: int | None = None,
        weights: Weights | None = None,
        child: str | None = None,
        frame: Frame | None = None,
    ) -> Explanation:
        """Return why a block is in a frame, or where it dropped out; leaves no trace.

        child: part of a composite. frame: the assembly to explain; without it the frame is assembled again, and
        reinforcement since then may have moved blocks.
        """
        context = self._context
        wanted = context.block(block)
        number = context.storage.blocks.numbers_of([wanted.id])[wanted.id]
        known = context.definitions()
        definition = registry.find(name, known)
        request = pipeline.FrameRequest(query, budget, weights)
        with context.derived.searching() as sources:
            return following.why(
                definition,
                request,
                known,
                sources,
                context.settings,
                context.count_tokens,
                wanted,
                number,
                child,
                frame,
            )

    def why_then(self, assembly_id: str, block: str) -> Explanation:
        """Return why a block was in a past assembly or not, from its stored candidates; leaves no trace.

        Raises UsageError if the id matches no assembly or several, or its candidates are not stored.
        """
        record = self._find(assembly_id)
        waterfall = self._storage.waterfalls.get(record.serial)
        if waterfall is None:
            number = self._context.settings.frames.waterfalls
            raise UsageError(
                f"The candidates of assembly {record.id} are no longer stored; those of the latest {number} are.",
                title="Not stored",
                way_out="`memory.frames.waterfalls` in the settings says how many are stored.",
            )
        return why.explain(record, waterfall, self._context.block(block))

    def compare(self, left: ComparisonSide, right: ComparisonSide) -> FrameComparison:
        """Compare two assemblies by name, query and weights. Nothing is reinforced."""
        return compare(self._side(left), self._side(right), labels=(left.label, right.label))

    def _side(self, asked: ComparisonSide) -> Frame:
        context = self._context
        known = context.definitions()
        definition = registry.find(asked.name, known)
        request = pipeline.FrameRequest(asked.query, asked.budget, asked.weights)
        with context.derived.searching() as sources:
            return pipeline.build(definition, request, known, sources, context.settings, context.count_tokens)


def _line(record: AssemblyRecord) -> PastAssembly:
    return PastAssembly(
        record.id,
        record.name,
        record.query,
        record.as_of,
        record.budget,
        record.tokens,
        record.entropy_bits,
        len(record.selected),
        record.weights,
    )
