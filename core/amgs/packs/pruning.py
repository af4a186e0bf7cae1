"""The sentences of a pack that answer a query, within a budget of tokens.

A sentence costs its tokens, and the first of a member what introduces it as well. Whatever says how much each is worth
is a `SentenceRelevance`; the choice itself knows neither the memory nor a model.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from amgs.frames.assemble import Assembled, Template, TextSpan, assemble
from amgs.packs.reading import PackReading, in_order, sections
from amgs.text.sentences import units
from amgs.types import Block, Candidate, PassageSpan, ScoreParts
from amgs.types.packs import Pack, PackRole

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
    costs: NDArray[np.int64],
    members: NDArray[np.int64],
    openings: NDArray[np.int64],
    budget: int,
) -> NDArray[np.bool_]:
    """(n,) the sentences that are kept: in falling worth, the earlier of equals, passing over what does not fit.

    costs: (n,) tokens. members: (n,) which member each belongs to. openings: (m,) tokens that introduce a member.
    """
    kept = np.zeros(worths.size, dtype=np.bool_)
    opened = np.zeros(openings.size, dtype=np.bool_)
    left = budget
    for place in np.argsort(-worths, kind="stable").tolist():
        member = members[place]
        cost = int(costs[place]) + (0 if opened[member] else int(openings[member]))
        if cost <= left:
            kept[place] = opened[member] = True
            left -= cost
    return kept


def prune(
    pack: Pack,
    held: Mapping[str, Block],
    query: str,
    budget: int,
    now: datetime,
    count_tokens: Callable[[str], int],
    relevance: SentenceRelevance,
) -> PackReading:
    """The sentences that answer a query, where they stand in the members and in the order of the pack; " … " where
    something is left out. `left_out` are the members of which nothing stands, `shortened` those of which a part does.
    """
    template = Template("template", pack.title or pack.name, query, now)
    members = in_order(pack, held)
    sentences = [
        PackSentence(block, start, end) for _, block in members for start, end in units(block.content)
    ]
    place_of = {block.id: place for place, (_, block) in enumerate(members)}
    of = np.array([place_of[one.block.id] for one in sentences], dtype=np.int64)
    costs = np.array([count_tokens(one.text + GAP) for one in sentences], dtype=np.int64)
    openings = np.array([_opening(template, block, count_tokens) for _, block in members], dtype=np.int64)
    worths = relevance.worths(query, sentences) if sentences else np.zeros(0)
    opening = template.opening() + "".join(template.heading(one.title) for one in sections(_whole(members)))
    kept = choose(worths, costs, of, openings, max(budget - count_tokens(opening), 0))
    while True:
        made = _written(template, members, [sentences[n] for n in np.flatnonzero(kept)], count_tokens)
        tokens = count_tokens(made.text)
        if tokens <= budget:
            break
        # a sum of tokens can be less than the tokens of the whole
        kept[min(np.flatnonzero(kept), key=lambda place: (worths[place], -place))] = False
    standing = {place: int(kept[of == place].sum()) for place in range(len(members))}
    sizes = {place: int((of == place).sum()) for place in range(len(members))}
    ids = [block.id for _, block in members]
    return PackReading(
        made.text,
        made.spans,
        tokens,
        tuple(one for place, one in enumerate(ids) if standing[place]),
        tuple(one for place, one in enumerate(ids) if not standing[place]),
        tuple(one for place, one in enumerate(ids) if 0 < standing[place] < sizes[place]),
    )


def _whole(members: Sequence[tuple[PackRole, Block]]) -> list[tuple[PackRole, Candidate]]:
    return [(role, Candidate(block, ScoreParts(), 0.0)) for role, block in members]


def _opening(template: Template, block: Block, count_tokens: Callable[[str], int]) -> int:
    """Tokens of the words around a member."""
    empty = Candidate(block, ScoreParts(), 0.0, passage=PassageSpan(0, 0))
    return template.cost(empty, count_tokens)


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
    return assemble(
        template, sections(chosen), count_tokens, lambda candidate: _extract(of[candidate.block.id])
    )


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
