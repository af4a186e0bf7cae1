"""Entities of a memory: people, organisations, places, projects and topics, recognised in its blocks."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from amgs.types.block import Block
    from amgs.types.retrieval import PassageSpan

EntityType = Literal["person", "organisation", "place", "project", "topic", "unknown"]
ENTITY_TYPES: tuple[EntityType, ...] = get_args(EntityType)


@dataclass(frozen=True, slots=True)
class EntitySummary:
    """An entity in a memory.

    name: its most frequent form. aliases: the others, most frequent first. type: by agreement of several cues, else
    unknown. mentions: in `blocks` blocks. first, last: when the earliest and latest of these were created. because:
    cues for the type.
    """

    name: str
    type: EntityType
    aliases: tuple[str, ...]
    mentions: int
    blocks: int
    first: datetime
    last: datetime
    because: str = ""


@dataclass(frozen=True, slots=True)
class EntityMention:
    """A block that mentions an entity, how often, and the passage."""

    block: Block
    count: int
    passage: PassageSpan


@dataclass(frozen=True, slots=True)
class RelatedEntity:
    """An entity mentioned in the same blocks. shared: number of blocks that mention both."""

    name: str
    type: EntityType
    shared: int


@dataclass(frozen=True, slots=True)
class EntityKnowledge:
    """What is known of an entity.

    asked: name in the request. mentions: the first of its blocks in the requested order; entity.blocks is their number.
    """

    asked: str
    entity: EntitySummary
    mentions: tuple[EntityMention, ...]
    related: tuple[RelatedEntity, ...]
