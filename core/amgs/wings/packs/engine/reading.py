"""Reading a pack: its members as one text within a budget, whose every character is accounted for."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from amgs.frames.assemble import FrameSection, Template, assemble
from amgs.types import Block, Candidate, ScoreParts, Span
from amgs.wings.packs.values import Pack, PackRole

_TITLES = {"source": "Sources", "learning": "Learnings"}


@dataclass(frozen=True, slots=True)
class PackReading:
    """The text with its spans; ids of the members in it, of those for which there was no room, and of those in it of
    which only sentences are.
    """

    text: str
    spans: tuple[Span, ...]
    tokens: int
    blocks: tuple[str, ...]
    left_out: tuple[str, ...]
    shortened: tuple[str, ...] = ()


def read(
    pack: Pack, held: Mapping[str, Block], query: str, budget: int, now: datetime, count_tokens: Callable[[str], int]
) -> PackReading:
    """The learnings, then the sources, each in the order of the pack, while they fit into `budget` tokens."""
    template = Template("template", pack.title or pack.name, query, now)
    chosen: list[tuple[PackRole, Candidate]] = []
    made = assemble(template, (), count_tokens)
    left_out: list[str] = []
    used = 0
    for role, block in in_order(pack, held):
        trial = [*chosen, (role, Candidate(block, ScoreParts(), 0.0))]
        tried = assemble(template, sections(trial), count_tokens)
        cost = count_tokens(tried.text)
        if cost > budget:
            left_out.append(block.id)
            continue
        chosen, made, used = trial, tried, cost
    return PackReading(made.text, made.spans, used, tuple(one.block.id for _, one in chosen), tuple(left_out))


def in_order(pack: Pack, held: Mapping[str, Block]) -> list[tuple[PackRole, Block]]:
    """The members that are held, the learnings first."""
    order = sorted(pack.members, key=lambda member: member.role == "source")
    return [(member.role, held[member.block]) for member in order if member.block in held]


def sections(chosen: Sequence[tuple[PackRole, Candidate]]) -> list[FrameSection]:
    """One without a title; one for each role where there are both."""
    roles = {role for role, _ in chosen}
    return [
        FrameSection(title if len(roles) > 1 else "", tuple(one for own, one in chosen if own == role))
        for role, title in sorted(_TITLES.items())
        if role in roles
    ]
