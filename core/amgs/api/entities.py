"""`memory.entities`: what the memory knows by name.

Nothing is stored: names, aliases and types are computed from the blocks when first needed.
"""

from __future__ import annotations

import builtins
import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Literal

from rapidfuzz import fuzz, process

from amgs import bounds
from amgs.api.context import MemoryPart
from amgs.derived.entities import EntityState
from amgs.errors import UnknownEntityError, UsageError
from amgs.index.entity_index import NamedThing
from amgs.retrieval.passage_finder import Match, best_passage
from amgs.types import Block, PassageSpan, Progress
from amgs.types.conversation_views import (
    ENTITY_TYPES,
    EntityKnowledge,
    EntityMention,
    EntitySummary,
    EntityType,
    RelatedEntity,
)

EntityOrder = Literal["relevance", "time"]

_PASSAGE = 240
_MOST = 20_000
"""Characters of a content that are searched."""
_LONGEST_NAME = 100
_NEAR, _NEAR_ENOUGH = 5, 70.0
_SATURATION = 1.2
"""How fast further mentions in a block stop to count (k1 of BM25)."""


class Entities(MemoryPart):
    """People, organisations, places, projects and topics in the live blocks."""

    def list(
        self,
        limit: int = 50,
        type: EntityType | None = None,
        min_mentions: int = 2,
        *,
        progress: Progress | None = None,
    ) -> tuple[EntitySummary, ...]:
        """Return the entities with at least `min_mentions`, most frequent first. Raises UsageError for an
        unknown type.
        """
        limit = bounds.count("A limit", limit)
        least = bounds.count("The number of mentions", min_mentions)
        if type is not None and type not in ENTITY_TYPES:
            raise UsageError(f"There is no type {type!r} of entities.", way_out=f"Types are {', '.join(ENTITY_TYPES)}.")
        with self._open_entity_state(progress) as known:
            things = [t for t in known.index.things if t.mentions >= least and type in (None, t.type)]
            return tuple(_summary(thing, known) for thing in things[:limit])

    def count(self, type: EntityType | None = None, min_mentions: int = 2) -> int:
        """Return the number of entities with at least `min_mentions`."""
        with self._open_entity_state() as known:
            return sum(t.mentions >= min_mentions and type in (None, t.type) for t in known.index.things)

    def get(
        self,
        name: str,
        limit: int = 20,
        order: EntityOrder = "relevance",
        *,
        related: int = 10,
        progress: Progress | None = None,
    ) -> EntityKnowledge:
        """Return what is known of an entity by name or alias: blocks that mention it, with passages, and related
        entities.

        order: relevance (frequent mentions in short texts, and valid blocks, first) or time (earliest first). Raises
        UnknownEntityError, which lists similar names.
        """
        limit = bounds.count("A limit", limit)
        with self._open_entity_state(progress) as known:
            thing = known.index.find(name)
            if thing is None:
                raise self._unknown(name, known)
            stored = self._storage.blocks.by_number(builtins.list(thing.blocks))
            forms = _pattern(thing)
            blocks = [(stored_block.block, thing.blocks[stored_block.number]) for stored_block in stored]
            ordered = _by_time(blocks) if order == "time" else _by_relevance(blocks)
            mentions = tuple(EntityMention(b, count, _passage(b.content, forms)) for b, count in ordered[:limit])
            near = known.index.near(thing)[: bounds.count("A limit", related)]
            beside = tuple(RelatedEntity(other.name, other.type, shared) for other, shared in near)
            return EntityKnowledge(name, _summary(thing, known), mentions, beside)

    def names(self, start: str = "", limit: int = 50) -> tuple[str, ...]:
        """Return names and aliases with this prefix, ignoring case, of the most frequent entities first.

        They are from the last computed state, none before, so that completion reads nothing.
        """
        seen, begun = self._context.derived.entities.seen, start.casefold()
        every = () if seen is None else (form for thing in seen.index.things for form in thing.forms)
        return tuple(islice((form for form in every if form.casefold().startswith(begun)), limit))

    # --- inside -----------------------------------------------------------------------------------------

    @contextmanager
    def _open_entity_state(self, progress: Progress | None = None) -> Iterator[EntityState]:
        with self._context.derived.reading() as state:
            yield self._context.derived.entities.latest(state, progress)

    def _unknown(self, name: str, known: EntityState) -> UnknownEntityError:
        asked = name[:_LONGEST_NAME]
        least = max(3, len(asked) // 2)
        forms = {f: thing.name for thing in known.index.things for f in thing.forms if len(f) >= least}
        near = process.extract(
            asked, builtins.list(forms), scorer=fuzz.WRatio, processor=str.casefold, limit=20, score_cutoff=_NEAR_ENOUGH
        )
        names = builtins.list(dict.fromkeys(forms[form] for form, _, _ in near))[:_NEAR]
        way_out = f"Names near to it: {', '.join(names)}." if names else "Search for it by its words."
        return UnknownEntityError(f"Nothing is known by the name {asked!r}.", way_out=way_out)


def _summary(thing: NamedThing, known: EntityState) -> EntitySummary:
    dates = [known.created[number] for number in thing.blocks]
    return EntitySummary(
        thing.name,
        thing.type,
        tuple(form for form in thing.forms if form != thing.name),
        thing.mentions,
        len(thing.blocks),
        min(dates),
        max(dates),
        thing.because,
    )


def _by_time(blocks: list[tuple[Block, int]]) -> list[tuple[Block, int]]:
    return sorted(blocks, key=lambda pair: (pair[0].created_at, pair[0].id))


def _by_relevance(blocks: list[tuple[Block, int]]) -> list[tuple[Block, int]]:
    """Sort by BM25's weight of the mentions, then latest first; superseded blocks last."""
    mean = sum(len(block.content) for block, _ in blocks) / max(1, len(blocks))

    def weight(block: Block, count: int) -> float:
        length = 0.25 + 0.75 * len(block.content) / max(1.0, mean)
        return count * (_SATURATION + 1) / (count + _SATURATION * length)

    return sorted(
        blocks, key=lambda pair: (pair[0].superseded, -weight(*pair), -pair[0].created_at.timestamp(), pair[0].id)
    )


def _pattern(thing: NamedThing) -> re.Pattern[str]:
    forms = sorted(thing.forms, key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, forms))})(?!\w)")


def _passage(content: str, forms: re.Pattern[str]) -> PassageSpan:
    matches = [Match(m.start(), m.end(), m[0]) for m in forms.finditer(content[:_MOST])]
    start, end = best_passage(content, matches, _PASSAGE)
    return PassageSpan(start, end, tuple((m.start, m.end) for m in matches if start <= m.start and m.end <= end))
