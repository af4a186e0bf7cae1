"""What each sentence of packs is worth for a question, and which of them fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from amgs.types.pack_assembly import PackStage


@dataclass(frozen=True, slots=True)
class PackSentenceWorth:
    """A sentence of a member, whose id and title it has. tokens: of the sentence alone. worth: the higher, the more it
    helps to answer; only the order counts. kept: whether it stands in the text.
    """

    block: str
    title: str
    text: str
    tokens: int
    worth: float
    kept: bool


@dataclass(frozen=True, slots=True)
class PackSentences:
    """The sentences of packs in the order in which a text has them. tokens: of that text with its citations, at most
    the budget. packs: names with versions. stages: of the road to it, where packs were chosen for the question.
    """

    query: str
    budget: int
    tokens: int
    packs: tuple[str, ...]
    sentences: tuple[PackSentenceWorth, ...]
    stages: tuple[PackStage, ...] = ()
