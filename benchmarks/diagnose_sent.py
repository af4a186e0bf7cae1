"""What a model was given, planted: a call that the gateway recorded, and a working context with a gist in it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from amgs.errors import BudgetError
from amgs.memory import Memory
from amgs.types.conversation import OptimisedContext
from amgs.types.diagnosis import DecodedContext, ReadSpan
from amgs.types.gateway import GatewayExchange

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
