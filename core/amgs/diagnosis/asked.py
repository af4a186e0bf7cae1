"""Find the logged request that led to an answer: the named request, else the latest that returned the answer's words.

A request is an assembly, a search or a call through the gateway. `diagnosing` explains it, and `fixes` asks others
again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

from amgs.api.context import MemoryContext
from amgs.api.gateway import GatewayLog
from amgs.conversation import exchanges
from amgs.diagnosis import facts
from amgs.errors import UsageError
from amgs.frames import registry
from amgs.retrieval.search_log import WHOLE, unpack
from amgs.storage.frames import AssemblyRecord, SearchRow
from amgs.types import Block, Weights
from amgs.types.diagnosis import DiagnosedRequest

FRAME = "SESSION"
"""Frame in which a question is asked that is not logged, unless another is named."""
_NOWHERE = 1_000_000
_LATEST = 50
"""Requests of each kind that are searched for an answer."""


def request_of_call(context: MemoryContext, number: int) -> DiagnosedRequest:
    """Return a call that the gateway recorded; raise NotFoundError where it is no longer stored."""
    exchange = GatewayLog(context).exchange(number)
    request = _gateway_request(exchange.number, exchange.asked, exchange.conversation, exchange.at, "it was named")
    return request if exchange.context is None else replace(request, budget=exchange.context.budget)


def request_of_question(
    context: MemoryContext, question: str, frame: str, budget: int | None, weights: Weights | None
) -> DiagnosedRequest:
    """Return the latest logged request with this question, else the request that would be asked now.

    frame: only requests for this frame; "" for any. With a budget or weights it is always asked now.
    """
    wanted = normalise_question(question)
    name = frame and registry.find(frame, context.definitions()).name
    if budget is None and weights is None:
        for row in _latest_rows(context, _LATEST, searches=not name):
            made_for = row.name if isinstance(row, AssemblyRecord) else ""
            if normalise_question(row.query) == wanted and name in ("", made_for):
                return _request(row, "the latest with this question")
    because = "no log has this question, so it was asked now"
    return DiagnosedRequest("question", question, because, "", name or FRAME, budget, weights)


def request_of_answer(context: MemoryContext, answer: str) -> DiagnosedRequest:
    """Return the latest call, assembly or search that led to an answer; for an empty answer the latest of all. Raises
    UsageError where nothing is logged.
    """
    if answer.strip():
        for row in context.storage.exchanges.latest(_LATEST):
            stored = context.storage.messages.some(row.conversation, set(exchanges.numbers(row)))
            exchange = exchanges.summarise(row, {n: stored_message.message for n, stored_message in stored.items()})
            if facts.contains_words(exchange.said, answer):
                return replace(request_of_call(context, row.number), because="it was answered so")
    rows = list(_latest_rows(context, _LATEST))
    first = next(iter(rows), None)
    if answer.strip():
        # A small memory returns the same blocks for every question: take the request that ranked the answer highest.
        places = [_rank_of_answer(_blocks(context, log_row), answer) for log_row in rows]
        best = min(places, default=_NOWHERE)
        if best < _NOWHERE:
            return _request(rows[places.index(best)], "the latest that brought what was answered")
    if first is None:
        raise UsageError(
            "No question is logged that could have led to this answer.",
            title="Which question?",
            way_out="Say which question was asked.",
        )
    because = "the latest question" if not answer.strip() else "the latest; no block of it says the answer"
    return _request(first, because)


def latest_requests(context: MemoryContext, limit: int) -> Iterator[DiagnosedRequest]:
    """Yield the latest `limit` logged assemblies and searches, newest first."""
    return (_request(row, "logged") for row in _latest_rows(context, limit))


def requests_of_conversation(context: MemoryContext, conversation: str, limit: int) -> Iterator[DiagnosedRequest]:
    """Yield the recorded calls of a conversation among the latest `limit`, each with its budget."""
    for exchange in GatewayLog(context).exchanges(limit):
        if exchange.conversation == conversation and exchange.asked:
            whole = GatewayLog(context).exchange(exchange.number)
            budget = None if whole.context is None else whole.context.budget
            yield replace(
                _gateway_request(exchange.number, exchange.asked, conversation, exchange.at, "logged"), budget=budget
            )


def _rank_of_answer(blocks: Sequence[Block], answer: str) -> int:
    """Return the index of the first block that states the answer; _NOWHERE if none does."""
    return next((n for n, block in enumerate(blocks) if facts.states(block.content, answer)), _NOWHERE)


def _latest_rows(context: MemoryContext, limit: int, *, searches: bool = True) -> Iterator[AssemblyRecord | SearchRow]:
    """Yield logged requests with a question, newest first. searches: searches too, not only assemblies."""
    rows: list[AssemblyRecord | SearchRow] = list(context.storage.assemblies.latest(limit))
    if searches:
        rows += context.searches.latest(limit)
    # With a fixed clock several have the same instant; their numbers order them.
    yield from sorted((row for row in rows if row.query.strip()), key=_log_order, reverse=True)


def _log_order(row: AssemblyRecord | SearchRow) -> tuple[datetime, bool, int]:
    if isinstance(row, AssemblyRecord):
        return row.as_of, True, row.serial
    return row.at, False, row.serial


def _request(row: AssemblyRecord | SearchRow, because: str) -> DiagnosedRequest:
    if isinstance(row, AssemblyRecord):
        return DiagnosedRequest("assembly", row.query, because, row.id, row.name, row.budget, row.weights, at=row.as_of)
    return DiagnosedRequest(
        "search", row.query, because, str(row.serial), places=row.places, weights=_weights(row), at=row.at
    )


def _weights(row: SearchRow) -> Weights | None:
    return unpack(row.candidates)[1].get(WHOLE)


def _gateway_request(number: int, asked: str, conversation: str, at: datetime, because: str) -> DiagnosedRequest:
    return DiagnosedRequest("gateway call", asked, because, str(number), at=at, conversation=conversation)


def _returned_ids(row: AssemblyRecord | SearchRow) -> tuple[str, ...]:
    """Return the ids, or their beginnings, of the blocks that a logged request returned, the best first."""
    if isinstance(row, AssemblyRecord):
        return row.selected
    return tuple(candidate.block for candidate in unpack(row.candidates)[0][: row.places])


def returned_blocks(context: MemoryContext, request: DiagnosedRequest) -> list[Block]:
    """Return the blocks that a logged request returned, the best first, without those that are gone."""
    if request.kind == "assembly":
        record = context.storage.assemblies.matching(request.id)
        return _blocks(context, record[0]) if record else []
    row = context.searches.get(int(request.id))
    return [] if row is None else _blocks(context, row)


def _blocks(context: MemoryContext, row: AssemblyRecord | SearchRow) -> list[Block]:
    ids = [full for prefix in _returned_ids(row) for full in context.storage.blocks.expand(prefix, 1)]
    blocks = context.storage.blocks.get(ids)
    return [blocks[i] for i in ids if i in blocks]


def normalise_question(text: str) -> str:
    """Return a question in lower case, without the punctuation at its end, to compare it with another."""
    return " ".join(text.casefold().split()).rstrip("?!. ")
