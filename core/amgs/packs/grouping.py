"""Members written under one heading for each day and source, so that citing them costs less."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from amgs.frames.assemble import ID, Content, Template, TextSpan
from amgs.types import Block, Candidate
from amgs.types.block import untold

GroupKey = tuple[str, str]
"""(day, source without its part), as the heading has them."""


@dataclass(frozen=True, slots=True)
class GroupedTemplate(Template):
    """A text whose members are cited by their ids below the day and source of their group. first: the ids of those that
    open a group.
    """

    first: frozenset[str] = frozenset()

    def opening(self) -> str:
        """Without the empty line that a group begins with."""
        return Template.opening(self).removesuffix("\n")

    def heading(self, title: str) -> str:
        """The same of a section."""
        return Template.heading(self, title).removesuffix("\n")

    def block(self, candidate: Candidate, content: Content | None = None) -> tuple[TextSpan, ...]:
        """One member; with content its content as that has it."""
        block = candidate.block
        heading = f"\n{group_heading(group_of(block))}" if block.id in self.first else ""
        ended = f", superseded {block.valid_to:%Y-%m-%d}" if block.valid_to is not None else ""
        start = 0 if candidate.passage is None else candidate.passage.start
        path = " › ".join(untold(block.content[start:], block.meta))
        written = content(candidate) if content is not None else (TextSpan(block.content, block.id),)
        return (
            TextSpan(f"{heading}({block.id[:ID]}{ended}) {path}{chr(10) if path else ''}"),
            *written,
            TextSpan("\n"),
        )


def group_of(block: Block) -> GroupKey:
    """What a member shares with its group."""
    source = " ".join(str(block.meta.get("source") or "").split())
    return f"{block.created_at:%Y-%m-%d}", source.partition("#")[0]


def group_heading(key: GroupKey) -> str:
    """One line."""
    return f"[{key[0]}] {key[1]}".rstrip() + "\n"


def by_group(blocks: Sequence[Block]) -> list[Block]:
    """Blocks of one group together, the groups and those within by time, then in the order that is given."""
    earliest: dict[GroupKey, tuple[object, int]] = {}
    for place, one in enumerate(blocks):
        key = group_of(one)
        earliest[key] = min(earliest.get(key, (one.created_at, place)), (one.created_at, place))
    places = sorted(
        range(len(blocks)),
        key=lambda n: (earliest[group_of(blocks[n])], blocks[n].created_at, n),
    )
    return [blocks[n] for n in places]


def openers(blocks: Sequence[Block]) -> frozenset[str]:
    """The ids of those that open a group, of blocks in the order of the text."""
    keys = [group_of(one) for one in blocks]
    return frozenset(one.id for n, one in enumerate(blocks) if n == 0 or keys[n] != keys[n - 1])
