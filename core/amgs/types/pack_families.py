"""The relations among the members of packs, by family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from amgs.types.block import Block
    from amgs.types.packs import Pack

RelationFamily = Literal["semantic", "temporal", "causal", "entity"]
"""semantic: on the same thing, or against it; temporal: before or after; causal: a cause that a text states; entity: of
the same name, or a link.
"""
FAMILIES: tuple[RelationFamily, ...] = get_args(RelationFamily)

QuestionIntent = Literal["multi-hop", "temporal", "open-domain", "single-hop"]
"""What a question asks for, in LoCoMo's words. multi-hop: several things, said at several places; temporal: when;
open-domain: what is likely, of which nothing is said outright; single-hop: one thing that is said.
"""
INTENTS: tuple[QuestionIntent, ...] = get_args(QuestionIntent)


@dataclass(frozen=True, slots=True)
class PackLink:
    """How many relations of a family there are between a member of one pack and a member of another, in either
    direction; names in alphabetical order.
    """

    a: str
    b: str
    family: RelationFamily
    count: int


@dataclass(frozen=True, slots=True)
class PackGraph:
    """The packs that are not retired, in their latest version, and what links them: by names, then by family."""

    packs: tuple[Pack, ...]
    links: tuple[PackLink, ...]


@dataclass(frozen=True, slots=True)
class ReachedBlock:
    """A block that is none of the best hits, and the share of a walk that comes to it."""

    block: Block
    share: float


@dataclass(frozen=True, slots=True)
class FamilyReach:
    """What the walk of a family leads to from the best hits of a question.

    weight: what the block that it reaches most would gain in the search's linear score, by the intents' likelihoods.
    relations: how many the memory has. blocks: the most reached first. packs: by name, with the share of the walk that
    comes to their members, the most first; those that it does not reach are left out.
    """

    family: RelationFamily
    weight: float
    relations: int
    blocks: tuple[ReachedBlock, ...]
    packs: tuple[tuple[str, float], ...]


@dataclass(frozen=True, slots=True)
class PackIntent:
    """What a question asks for, how likely that is, and what each family of relations would bring to it. likely: of all
    intents, the likeliest first.
    """

    query: str
    likely: tuple[tuple[QuestionIntent, float], ...]
    families: tuple[FamilyReach, ...]

    @property
    def intent(self) -> QuestionIntent:
        """The likeliest."""
        return self.likely[0][0]

    @property
    def confidence(self) -> float:
        """How likely that is."""
        return self.likely[0][1]
