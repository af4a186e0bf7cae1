"""Causes that blocks state, as proposals: kept beside the block that says so, with a `causes` edge where the cause or
the effect is another block. What merely followed, was read together or turned out well is never one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from amgs.decay import PROFILES
from amgs.lifecycle.change import Change
from amgs.lifecycle.linking import NEXT, node, places
from amgs.lifecycle.proposals import Proposal, ProposalKind, proposal_id
from amgs.text.causality import StatedCause, stated_causes
from amgs.text.markdown import links
from amgs.types import Block, Edge
from amgs.types.causes import STATED_CAUSES, KeptCause, stated_in

KIND: ProposalKind = "causes"
CAUSES = "causes"
"""The relation: from the block of the cause to that of the effect."""

_WEIGHT = 0.7


def proposals(
    blocks: Sequence[Block], edges: Iterable[Edge], now: datetime, busy: Collection[str] = ()
) -> list[Proposal]:
    """One for each block that states a cause which is not kept yet, with all of those. busy: blocks to pass over.

    Where a sentence points back and its block begins with it, the cause is the block before, by a `next` edge; where
    a clause links to a note, that note is meant. A sentence that points back to nothing is passed over.
    """
    before = {e.target_id: e.source_id for e in edges if e.relation_type == NEXT}
    named = _named(blocks)
    titles = {b.id: b.title for b in blocks}
    found = []
    for block in blocks:
        if block.id in busy:
            continue
        there = {str(one.get("sentence")) for one in stated_in(block)}
        fresh = [one for one in stated_causes(block.content) if one.sentence not in there]
        kept = [one for one in (_record(one, block.id, before, named) for one in fresh) if one]
        if kept:
            found.append(_proposal(block, kept, titles, now))
    return found


def kept_causes(blocks: Iterable[Block], known: Mapping[str, Block]) -> Iterator[KeptCause]:
    """What these blocks state, as it is kept; known: the blocks that it may name."""
    for block in blocks:
        for one in stated_in(block):
            yield KeptCause(
                block,
                str(one.get("sentence", "")),
                str(one.get("cause", "")),
                str(one.get("effect", "")),
                str(one.get("connective", "")),
                float(one.get("confidence", 0.0)),
                known.get(str(one.get("cause_block", ""))),
                known.get(str(one.get("effect_block", ""))),
            )


def _named(blocks: Iterable[Block]) -> dict[str, str]:
    """Ids of notes by the slugs that links name them by."""
    found: dict[str, str] = {}
    for number, block in enumerate(blocks):
        for name in places(node(number, block.id, block.created_at, block.meta)):
            found.setdefault(name, block.id)
    return found


def _record(
    one: StatedCause, block_id: str, before: Mapping[str, str], named: Mapping[str, str]
) -> dict[str, Any] | None:
    cause_block = _linked(one.cause, named) if one.cause else before.get(block_id)
    if not one.cause and cause_block is None:
        return None
    made = {
        "sentence": one.sentence,
        "cause": one.cause,
        "effect": one.effect,
        "connective": one.connective,
        "confidence": one.confidence,
    }
    ends = {"cause_block": cause_block, "effect_block": _linked(one.effect, named)}
    if ends["cause_block"] == ends["effect_block"]:
        return made
    return made | {key: end for key, end in ends.items() if end not in (None, block_id)}


def _linked(clause: str, named: Mapping[str, str]) -> str | None:
    """The note that a clause links to, where it is one."""
    found = {named[name] for name in links(clause) if name in named}
    return found.pop() if len(found) == 1 else None


def _proposal(
    block: Block, kept: Sequence[dict[str, Any]], titles: Mapping[str, str], now: datetime
) -> Proposal:
    pairs = {
        (one.get("cause_block", block.id), one.get("effect_block", block.id)): float(one["confidence"])
        for one in kept
        if "cause_block" in one or "effect_block" in one
    }
    edges = [
        Edge(cause, effect, CAUSES, _WEIGHT, sure, now, now, PROFILES["durable"])
        for (cause, effect), sure in pairs.items()
    ]
    others = dict.fromkeys(i for pair in pairs for i in pair if i != block.id)
    noted = replace(block, meta={**block.meta, STATED_CAUSES: [*stated_in(block), *kept]})
    count = "a stated cause" if len(kept) == 1 else f"{len(kept)} stated causes"
    joins = f", {len(edges)} causes edge{'s' * (len(edges) > 1)}" if edges else ""
    subjects = (block.id, *others)
    return Proposal(
        proposal_id(KIND, block.id, *(str(one["sentence"]) for one in kept)),
        KIND,
        subjects,
        tuple(titles[i] for i in subjects),
        " · ".join(str(one["sentence"]) for one in kept),
        max(float(one["confidence"]) for one in kept),
        f"{count} kept beside the block{joins}",
        Change(blocks=((block, noted),), edges=tuple((None, edge) for edge in edges)),
    )
