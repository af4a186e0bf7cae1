"""The relations among the members of packs, by family."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from amgs.types.packs import Pack

RelationFamily = Literal["semantic", "temporal", "causal", "entity"]
"""semantic: on the same thing, or against it; temporal: before or after; causal: a cause that a text states; entity: of
the same name, or a link.
"""
FAMILIES: tuple[RelationFamily, ...] = ("semantic", "temporal", "causal", "entity")


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
