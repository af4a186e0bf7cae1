"""Entities of a memory: people, organisations, places, projects and topics, read out of its blocks."""

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
    """Something that blocks name. name: the form it is mostly written in. aliases: the others, the commonest first.

    type: what several cues agree on, else unknown. mentions: how often it is named, in `blocks` many blocks. first,
    last: when the earliest and the latest of these were created. because: the cues that speak for the type.
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
    """A block that names an entity, how often, and the passage in which it does."""

    block: Block
    count: int
    passage: PassageSpan


@dataclass(frozen=True, slots=True)
class RelatedEntity:
    """An entity that stands in the same blocks. shared: how many blocks name both."""

    name: str
    type: EntityType
    shared: int


@dataclass(frozen=True, slots=True)
class EntityKnowledge:
    """Knowledge about one entity.

    asked: the name in the request. mentions: the first of its blocks in the requested order; entity.blocks is their
    number.
    """

    asked: str
    entity: EntitySummary
    mentions: tuple[EntityMention, ...]
    related: tuple[RelatedEntity, ...]
