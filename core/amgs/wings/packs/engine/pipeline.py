"""From packs to one text for a question: packs are chosen, their members joined, and the sentences of these written
that answer it, with a ledger of the tokens of each stage.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from amgs.types import Block
from amgs.wings.packs.engine.pruning import PrunedPack, SentenceRelevance, prune
from amgs.wings.packs.engine.routing import RouteChoice, RouteItem, route
from amgs.wings.packs.values import PackRole, PackStage, PackStageChange

REACH = 4
"""Packs are chosen within so many times the tokens of the text, for their sentences to compete; one that is larger by
itself counts as so many, since its best sentences are all that is read of it."""
TITLE = "Packs"

Members = Sequence[tuple[PackRole, Block]]
CountTokens = Callable[[str], int]


@dataclass(frozen=True, slots=True)
class PipelineResult:
    """What was chosen, what is written of it, and the ledger."""

    choice: RouteChoice
    written: PrunedPack
    stages: tuple[PackStage, ...]


def make(
    query: str,
    items: Sequence[RouteItem],
    shares: Sequence[float],
    members: Mapping[str, Members],
    budget: int,
    now: datetime,
    count_tokens: CountTokens,
    relevance: SentenceRelevance,
) -> PipelineResult:
    """A text of at most `budget` tokens. items, shares: see `route`. members: what is read of each item, by its id;
    what stands in several packs is read once, in the first that was chosen.
    """
    reach = REACH * budget
    choice = route([replace(one, tokens=min(one.tokens, reach)) for one in items], shares, reach)
    of_pack = [(one.id, role, block) for one in choice.chosen for role, block in members[one.id]]
    once = {block.id: (role, block) for _, role, block in reversed(of_pack)}
    order = dict.fromkeys(block.id for _, _, block in of_pack)
    joined = sorted((once[one] for one in order), key=lambda one: one[0] == "source")
    written = prune(TITLE, joined, query, budget, now, count_tokens, relevance)
    stages = (
        _packs(items, choice),
        _members(of_pack, joined, count_tokens),
        _sentences(joined, written, count_tokens),
        _text(written, count_tokens),
    )
    return PipelineResult(choice, written, stages)


def _packs(items: Sequence[RouteItem], choice: RouteChoice) -> PackStage:
    whole = {one.id: one.tokens for one in items}
    silent = [(one.id, whole[one.id]) for one in choice.left_out if one.gain <= 0.0]
    others = [(one.id, whole[one.id]) for one in choice.left_out if one.gain > 0.0]
    return PackStage(
        "packs",
        len(items),
        sum(whole.values()),
        _left_out({"add nothing that answers": silent, "add less for their tokens": others}),
        len(choice.chosen),
        sum(whole[one.id] for one in choice.chosen),
    )


def _members(of_pack: Sequence[tuple[str, PackRole, Block]], joined: Members, count_tokens: CountTokens) -> PackStage:
    tokens = {block.id: count_tokens(block.content) for _, block in joined}
    seen: set[str] = set()
    again = []
    for _, _, block in of_pack:
        if block.id in seen:
            again.append((block.id, tokens[block.id]))
        seen.add(block.id)
    return PackStage(
        "members",
        len(of_pack),
        sum(tokens[block.id] for _, _, block in of_pack),
        _left_out({"stand in another pack as well": again}),
        len(joined),
        sum(tokens.values()),
    )


def _sentences(joined: Members, written: PrunedPack, count_tokens: CountTokens) -> PackStage:
    """What is between sentences, and what joins in one token across their border, makes their sum another."""
    given = sum(count_tokens(block.content) for _, block in joined)
    costs = np.array([count_tokens(one.text) for one in written.sentences], dtype=np.int64)
    part, none = set(written.reading.shortened), set(written.reading.left_out)
    out = [n for n in range(costs.size) if not written.kept[n]]
    whole_out = [(one.block.id, int(costs[n])) for n in out if (one := written.sentences[n]).block.id in none]
    part_out = [(one.block.id, int(costs[n])) for n in out if (one := written.sentences[n]).block.id in part]
    seams = int(costs.sum()) - given
    changes = _left_out(
        {"no room: nothing of their member is read": whole_out, "no room: others of their member are read": part_out}
    )
    if seams:
        changes += (PackStageChange("white space, and tokens across borders", 0, seams),)
    kept = int(written.kept.sum())
    return PackStage("sentences", costs.size, given, changes, kept, int(costs[written.kept].sum()))


def _text(written: PrunedPack, count_tokens: CountTokens) -> PackStage:
    kept = [one for one, there in zip(written.sentences, written.kept, strict=True) if there]
    given, made = sum(count_tokens(one.text) for one in kept), written.reading.tokens
    added = (PackStageChange("heading, dates, citations, marks", 0, made - given),) if made != given else ()
    cited = len(written.reading.blocks)
    return PackStage("members cited", cited, given, added, cited, made)


def _left_out(by_reason: Mapping[str, Sequence[tuple[str, int]]]) -> tuple[PackStageChange, ...]:
    return tuple(
        PackStageChange(why, -len(out), -sum(tokens for _, tokens in out), tuple(dict.fromkeys(one for one, _ in out)))
        for why, out in by_reason.items()
        if out
    )
