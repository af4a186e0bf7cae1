"""The sentences of a pack that answer a query, within a budget of tokens.

A sentence costs its tokens, the first of a member what cites it as well, and that of a group its heading. Whatever says
how much each is worth is a `SentenceRelevance`; the choice itself knows neither the memory nor a model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from amgs.frames.assemble import Assembled, Template, TextSpan, assemble, group_of
from amgs.text.sentences import units
from amgs.types import Block, Candidate, PassageSpan, ScoreParts
from amgs.wings.packs.engine.reading import PackReading, sections
from amgs.wings.packs.values import PackRole

Tokens = NDArray[np.int64]
Worths = NDArray[np.float64]
"""(n,), one for each sentence; the higher, the more it helps to answer. Only their order counts."""
GAP = " … "


@dataclass(frozen=True, slots=True)
class PackSentence:
    """Characters [start, end) of the content of a member."""

    block: Block
    start: int
    end: int

    @property
    def text(self) -> str:
        return self.block.content[self.start : self.end]


class SentenceRelevance(Protocol):
    """What sentences are worth for a query."""

    def worths(self, query: str, sentences: Sequence[PackSentence]) -> Worths:
        """sentences: of all members of a pack, those of one member together and in order."""
        ...


def choose(
    worths: Worths,
    costs: Tokens,
    members: Tokens,
    openings: Tokens,
    budget: int,
    groups: Tokens | None = None,
    headings: Tokens | None = None,
) -> NDArray[np.bool_]:
    """(n,) the sentences that are kept: in falling worth, the earlier of equals, passing over what does not fit.

    costs: (n,) tokens. members: (n,) which member each belongs to. openings: (m,) tokens that introduce a member.
    groups: (m,) which group each member belongs to, headings: (g,) tokens that introduce it; nothing unless given.
    """
    if groups is None or headings is None:
        groups, headings = np.zeros(openings.size, dtype=np.int64), np.zeros(1, dtype=np.int64)
    kept = np.zeros(worths.size, dtype=np.bool_)
    opened = np.zeros(openings.size, dtype=np.bool_)
    begun = np.zeros(headings.size, dtype=np.bool_)
    left = budget
    for place in np.argsort(-worths, kind="stable").tolist():
        member = members[place]
        group = groups[member]
        cost = int(costs[place])
        cost += 0 if opened[member] else int(openings[member])
        cost += 0 if begun[group] else int(headings[group])
        if cost <= left:
            kept[place] = opened[member] = begun[group] = True
            left -= cost
    return kept


@dataclass(frozen=True, slots=True)
class PrunedPack:
    """A reading, with the sentences that were there; (n,) what each is worth, and whether it stands in it."""

    reading: PackReading
    sentences: tuple[PackSentence, ...]
    worths: Worths
    kept: NDArray[np.bool_]


def prune(
    title: str,
    members: Sequence[tuple[PackRole, Block]],
    query: str,
    budget: int,
    now: datetime,
    count_tokens: Callable[[str], int],
    relevance: SentenceRelevance,
) -> PrunedPack:
    """The sentences that answer a query: the learnings, then the sources, each by day and source under one heading, in
    the order of time; " … " where something is left out. In the reading `left_out` are the members of which nothing
    stands, `shortened` those of which a part does.
    """
    template = Template("template", title, query, now)
    members = [
        (role, block)
        for role in ("learning", "source")
        for block in sorted((block for own, block in members if own == role), key=lambda b: b.created_at)
    ]
    blocks = [block for _, block in members]
    sentences = tuple(PackSentence(one, start, end) for one in blocks for start, end in units(one.content))
    place_of = {block.id: place for place, block in enumerate(blocks)}
    of = np.array([place_of[one.block.id] for one in sentences], dtype=np.int64)
    keys = [(role, *group_of(block)) for role, block in members]
    first = {key: block for key, (_, block) in reversed(list(zip(keys, members, strict=True)))}
    number_of = {key: n for n, key in enumerate(first)}
    worths = relevance.worths(query, sentences) if sentences else np.zeros(0)
    opening = template.opening() + "".join(template.heading(one.title) for one in sections(_whole(members)))
    kept = choose(
        worths,
        costs=np.array([count_tokens(one.text) for one in sentences], dtype=np.int64),
        members=of,
        openings=np.array([_opening(template, one, count_tokens) for one in blocks], dtype=np.int64),
        budget=max(budget - count_tokens(opening), 0),
        groups=np.array([number_of[key] for key in keys], dtype=np.int64),
        headings=np.array([count_tokens(template.group_heading(one)) for one in first.values()], dtype=np.int64),
    )
    while True:
        made = _written(template, members, [sentences[n] for n in np.flatnonzero(kept)], count_tokens)
        tokens = count_tokens(made.text)
        if tokens <= budget:
            break
        # marks where something is left out were not counted, and a sum can be less than the tokens of the whole
        kept[min(np.flatnonzero(kept), key=lambda place: (worths[place], -place))] = False
    standing = np.bincount(of[kept], minlength=len(blocks))
    sizes = np.bincount(of, minlength=len(blocks))
    reading = PackReading(
        made.text,
        made.spans,
        tokens,
        tuple(one.id for one, here in zip(blocks, standing, strict=True) if here),
        tuple(one.id for one, here in zip(blocks, standing, strict=True) if not here),
        tuple(one.id for one, here, all_ in zip(blocks, standing, sizes, strict=True) if 0 < here < all_),
    )
    return PrunedPack(reading, sentences, worths, kept)


def _whole(members: Sequence[tuple[PackRole, Block]]) -> list[tuple[PackRole, Candidate]]:
    return [(role, Candidate(block, ScoreParts(), 0.0)) for role, block in members]


def _opening(template: Template, block: Block, count_tokens: Callable[[str], int]) -> int:
    """Tokens of the words around a member."""
    empty = Candidate(block, ScoreParts(), 0.0, passage=PassageSpan(0, 0))
    return count_tokens("".join(piece.text for piece in template.block(empty, lambda _: ())))


def _written(
    template: Template,
    members: Sequence[tuple[PackRole, Block]],
    kept: Sequence[PackSentence],
    count_tokens: Callable[[str], int],
) -> Assembled:
    of: dict[str, list[PackSentence]] = defaultdict(list)
    for one in kept:
        of[one.block.id].append(one)
    chosen = [
        (role, Candidate(block, ScoreParts(), 0.0, passage=PassageSpan(own[0].start, own[-1].end)))
        for role, block in members
        if (own := of.get(block.id))
    ]
    return assemble(template, sections(chosen), count_tokens, lambda candidate: _extract(of[candidate.block.id]))


def _extract(kept: Sequence[PackSentence]) -> tuple[TextSpan, ...]:
    """Sentences of one member as spans that cite it, and a mark where something before, between or after is not."""
    block = kept[0].block
    runs: list[tuple[int, int]] = []
    for one in kept:
        if runs and not block.content[runs[-1][1] : one.start].strip():
            runs[-1] = (runs[-1][0], one.end)
        else:
            runs.append((one.start, one.end))
    made = [TextSpan(GAP.lstrip() if block.content[: runs[0][0]].strip() else "")]
    for place, (start, end) in enumerate(runs):
        made += [TextSpan(GAP)] if place else []
        made.append(TextSpan(block.content[start:end], block.id))
    made.append(TextSpan(GAP.rstrip() if block.content[runs[-1][1] :].strip() else ""))
    return tuple(made)
