"""Planting one failure in a memory of its own: what keeps a turn from the answer, by an operation that people use.

What a model was given, planted: a call that the gateway recorded, and a working context with a gist in it.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from typing import Any

from amgs.errors import BudgetError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.types import Status
from amgs.types.conversation import OptimisedContext
from amgs.types.diagnosis import DecodedContext, ReadSpan
from amgs.types.gateway import GatewayExchange
from benchmarks.diagnose_world import TALK, FailureWorld, PlantedFailure, has, look, messages

BUDGETS = (2000, 1000, 500, 300, 200)
"""Tokens of a conversation that leave a fact out; the largest that does is taken."""


def called(talk: Memory, said: Sequence[dict[str, Any]], question: str, fact: str, number: int) -> int | None:
    """Record two calls of a conversation of their own that ends with a question: one that was sent without what was
    said, as a number, and before it, with the number before, one that was sent whole. None where no budget leaves it
    out. fact: the sentence that was said.
    """
    name = f"call {number}"
    until = talk.conversation.add(name, [*said, {"role": "user", "content": question}]).last
    for budget in BUDGETS:
        try:
            made = talk.conversation.optimise(name, question, budget=budget)
        except BudgetError:
            return None
        if not any(fact in one.text for one in made.messages):
            whole = talk.conversation.optimise(name, question, budget=1_000_000)
            _note(talk, name, question, until, whole, number - 1)
            _note(talk, name, question, until, made, number)
            return budget
    return None


def _note(talk: Memory, name: str, question: str, until: int, sent: OptimisedContext, number: int) -> None:
    """Keep a call as the gateway keeps it, its answer left out."""
    talk.gateway.note(
        GatewayExchange(
            number,
            talk.clock.now(),
            name,
            "/v1/chat/completions",
            "bench",
            question,
            until,
            sent,
            "",
            "",
            "answered",
            200,
            0,
            0.0,
            0.0,
            0.0,
            until=until,
            tokens=sent.tokens,
            tokens_before=sent.history,
        )
    )


def read(memory: Memory, block: str, said: str, *, gist: bool) -> DecodedContext:
    """A reading in which a gist stood for one part of a block and its tokens for the other. gist: for what was said;
    else for all but that.
    """
    content = memory.block(block).content
    first = content.index(said)
    last = first + len(said)
    if not re.search(r"[.!?]\s|\n", content[:first]):
        first = 0  # who says it belongs to the first sentence
    start, end = first / len(content), last / len(content)
    inside, outside = (1, 0) if gist else (0, 1)
    spans = (
        ReadSpan(block, 0.0, start, outside),
        ReadSpan(block, start, end, inside),
        ReadSpan(block, end, 1.0, outside),
    )
    return DecodedContext(0, tuple(one for one in spans if one.start < one.end))


_BUDGETS = (200, 140, 100, 70)
"""Tokens that leave a fact out; the largest that does is taken."""
_ECHOES = 90
"""How often somebody repeats a question whose answer is to be out-voted."""
_ECHOED = 5
"""How many times so many are added at most."""
_SET_ASIDE: tuple[Status, ...] = ("archived", "pruned")


@dataclass(frozen=True, slots=True)
class PlantedMemory:
    """A failure with the memory that it was planted in."""

    failure: PlantedFailure
    memory: Memory


def planted(world: FailureWorld, dropped: list[str]) -> Iterator[PlantedMemory]:
    """Each failure in a memory of its own, which is closed when the next is asked for. dropped: gets what could not be
    planted; another question takes its place, while there are any.
    """
    spare = list(world.spare)
    for wanted in world.wanted:
        failure: PlantedFailure | None = wanted
        while failure is not None:
            with _memory(world, failure) as memory:
                made = _plant(world, memory, failure)
                if made is not None:
                    yield PlantedMemory(made, memory)
                    break
            dropped.append(f"{failure.cause}: {failure.question}")
            failure = _instead(failure, spare.pop()[failure.retold]) if spare else None


def _memory(world: FailureWorld, failure: PlantedFailure) -> AbstractContextManager[Memory]:
    return world.talk() if failure.cause == "left out of the conversation" else world.memory()


def _instead(failure: PlantedFailure, other: PlantedFailure) -> PlantedFailure:
    """Another question with what was to be done to this one."""
    return replace(other, cause=failure.cause, place=failure.place, called=failure.called)


def _plant(world: FailureWorld, memory: Memory, failure: PlantedFailure) -> PlantedFailure | None:
    """Do to its turn what keeps it from the answer: the failure as it is asked; None where the fact is given in spite
    of it.
    """
    chance = random.Random(f"{world.rig.seed} {failure.cause} {failure.place}")
    draft = next(d for d in world.conversation.drafts if d.meta["source"] == failure.source)
    match failure.cause:
        case "left out of the conversation":
            return _called(world, memory, failure) if failure.called else _squeezed(memory, failure)
        case "collapsed":  # the frame holds it, the working context does not
            return failure if has(look(memory, failure.asked), failure.block, failure.said) else None
        case "over budget":
            return _over_budget(memory, failure)
        case "not found":
            failure = replace(failure, asked=f"{' '.join(_invented(chance) for _ in range(2))}?")
            if any(one.block.id == failure.block for one in look(memory, failure.asked).candidates):
                return None  # some layer brings it all the same
        case "out-voted":
            return _outvoted(memory, failure, chance)
        case "set aside":
            memory.set_metadata(failure.block, status=_SET_ASIDE[failure.place % len(_SET_ASIDE)])
        case "superseded":
            _supersede(memory, failure, draft)
        case _:
            memory.erasure.erase([failure.block])
            memory.consolidate()
            if failure.cause == "not consolidated":
                memory.ingest_many([draft])
    return _missed(memory, failure)


def _outvoted(memory: Memory, failure: PlantedFailure, chance: random.Random) -> PlantedFailure | None:
    """Repeat a question, by many who could not answer it, until even twice the budget leaves its answer out: else it
    would be over budget.
    """
    twice = replace(failure, budget=2 * look(memory, failure.asked).budget)
    for _ in range(_ECHOED):
        for _ in range(_ECHOES):
            where, who = (" ".join(_invented(chance) for _ in range(3)) for _ in range(2))
            memory.add(f"In {where} {who} was asked: {failure.question} Nobody there could tell.")
        memory.consolidate()
        if _missed(memory, twice) is not None:
            return failure
    return None


def _supersede(memory: Memory, failure: PlantedFailure, draft: RawBlock) -> None:
    """The turn as a letter, a new version of which says something else."""
    letter = f"letter {failure.source}".replace("#", " turn ")
    memory.erasure.erase([failure.block])
    memory.ingest_many([replace(draft, meta={**draft.meta, "source": letter})])
    memory.consolidate()
    memory.sources.apply(memory.sources.plan_text(letter, f"{failure.question} That is no longer known."))
    memory.consolidate()


def _over_budget(memory: Memory, failure: PlantedFailure) -> PlantedFailure | None:
    if not has(look(memory, failure.asked), failure.block, failure.said):
        return None
    tried = (_missed(memory, replace(failure, budget=budget)) for budget in _BUDGETS)
    return next((made for made in tried if made is not None), None)


def _missed(memory: Memory, failure: PlantedFailure) -> PlantedFailure | None:
    """The failure; None where its sentence is given, or any of the turn where others retold it: who retells need not
    keep to one sentence.
    """
    frame = look(memory, failure.asked, failure.budget)
    return None if has(frame, failure.block, "" if failure.retold else failure.said) else failure


def _called(world: FailureWorld, talk: Memory, failure: PlantedFailure) -> PlantedFailure | None:
    budget = called(talk, messages(world.conversation), failure.question, failure.said, 2)
    return None if budget is None else replace(failure, budget=budget)


def _squeezed(talk: Memory, failure: PlantedFailure) -> PlantedFailure | None:
    """The largest of some budgets at which the conversation engine does not send what was said."""
    for budget in BUDGETS:
        try:
            made = talk.conversation.optimise(TALK, failure.question, budget=budget)
        except BudgetError:
            return None
        if not any(failure.said in one.text for one in made.messages):
            return replace(failure, budget=budget)
    return None


def _invented(chance: random.Random) -> str:
    """A word that no language has, like a code name."""
    return "".join(chance.choice("bdfgklmnprstvz") + chance.choice("aeiou") for _ in range(3)).capitalize()
