"""Which request led to an answer: the one that is named, else the latest that brought the answer's words."""

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
from amgs.retrieval.stored_candidates import WHOLE, unpack
from amgs.storage.assemblies import AssemblyRecord, SearchRow
from amgs.types import Block, Weights
from amgs.types.diagnosis import DiagnosedRequest

FRAME = "SESSION"
"""What a question is asked for that no log has, unless a frame is named."""
_NOWHERE = 1_000_000
_LATEST = 50
"""So many requests of each kind are looked at for an answer."""


def of_call(context: MemoryContext, number: int) -> DiagnosedRequest:
    """Return a call that was recorded by the gateway; raises NotFoundError for one that is not kept."""
    found = GatewayLog(context).exchange(number)
    made = _call(found.number, found.asked, found.conversation, found.at, "the one that was named")
    return made if found.context is None else replace(made, budget=found.context.budget)


def of_question(
    context: MemoryContext, question: str, frame: str, budget: int | None, weights: Weights | None
) -> DiagnosedRequest:
    """Return the latest logged request with this question; without one the question as it would be asked now. frame:
    only requests for it. A budget or weights are those of a request that is not logged.
    """
    wanted = plain(question)
    name = frame and registry.find(frame, context.definitions()).name
    if budget is None and weights is None:
        for one in _rows(context, _LATEST, searches=not name):
            made_for = one.name if isinstance(one, AssemblyRecord) else ""
            if plain(one.query) == wanted and name in ("", made_for):
                return _request(one, "the latest with this question")
    because = "no log has this question, so it was asked now"
    return DiagnosedRequest("question", question, because, "", name or FRAME, budget, weights)


def of_answer(context: MemoryContext, answer: str) -> DiagnosedRequest:
    """Return the latest call, assembly or search that led to an answer. Raises UsageError where nothing is logged."""
    if answer.strip():
        for row in context.storage.exchanges.latest(_LATEST):
            stored = context.storage.messages.some(row.conversation, set(exchanges.numbers(row)))
            said = exchanges.summarise(row, {n: one.message for n, one in stored.items()})
            if facts.exactly(said.said, answer):
                return replace(of_call(context, row.number), because="it was answered so")
    rows = list(_rows(context, _LATEST))
    first = next(iter(rows), None)
    if answer.strip():
        # A small memory gives the same blocks for every question: whichever gave the answer foremost was meant.
        places = [_place(_blocks(context, one), answer) for one in rows]
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


def logged(context: MemoryContext, limit: int) -> Iterator[DiagnosedRequest]:
    """Yield the latest logged assemblies and searches, the latest first."""
    return (_request(one, "logged") for one in _rows(context, limit))


def calls_of(context: MemoryContext, conversation: str, limit: int) -> Iterator[DiagnosedRequest]:
    """Yield the latest calls that were recorded of a conversation, with the budget that each had."""
    for one in GatewayLog(context).exchanges(limit):
        if one.conversation == conversation and one.asked:
            whole = GatewayLog(context).exchange(one.number)
            budget = None if whole.context is None else whole.context.budget
            yield replace(_call(one.number, one.asked, conversation, one.at, "logged"), budget=budget)


def _place(blocks: Sequence[Block], answer: str) -> int:
    """Return the place of the first block that says an answer."""
    return next((n for n, block in enumerate(blocks) if facts.says(block.content, answer)), _NOWHERE)


def _rows(context: MemoryContext, limit: int, *, searches: bool = True) -> Iterator[AssemblyRecord | SearchRow]:
    found: list[AssemblyRecord | SearchRow] = list(context.storage.assemblies.latest(limit))
    if searches:
        found += context.searches.latest(limit)
    # A clock that stands still gives several the same instant; the number orders those of one kind.
    yield from sorted((one for one in found if one.query.strip()), key=_when, reverse=True)


def _when(one: AssemblyRecord | SearchRow) -> tuple[datetime, bool, int]:
    if isinstance(one, AssemblyRecord):
        return one.as_of, True, one.serial
    return one.at, False, one.serial


def _request(one: AssemblyRecord | SearchRow, because: str) -> DiagnosedRequest:
    if isinstance(one, AssemblyRecord):
        return DiagnosedRequest("assembly", one.query, because, one.id, one.name, one.budget, one.weights, at=one.as_of)
    return DiagnosedRequest(
        "search", one.query, because, str(one.serial), places=one.places, weights=_weights(one), at=one.at
    )


def _weights(row: SearchRow) -> Weights | None:
    return unpack(row.candidates)[1].get(WHOLE)


def _call(number: int, asked: str, conversation: str, at: datetime, because: str) -> DiagnosedRequest:
    return DiagnosedRequest("gateway call", asked, because, str(number), at=at, conversation=conversation)


def _ids(one: AssemblyRecord | SearchRow) -> tuple[str, ...]:
    """Return the ids, or their beginnings, of the blocks that a logged request gave, the best first."""
    if isinstance(one, AssemblyRecord):
        return one.selected
    return tuple(each.block for each in unpack(one.candidates)[0][: one.places])


def given(context: MemoryContext, request: DiagnosedRequest) -> list[Block]:
    """Return the blocks that a logged request gave, the best first, as far as they are there."""
    if request.kind == "assembly":
        record = context.storage.assemblies.matching(request.id)
        return _blocks(context, record[0]) if record else []
    row = context.searches.get(int(request.id))
    return [] if row is None else _blocks(context, row)


def _blocks(context: MemoryContext, one: AssemblyRecord | SearchRow) -> list[Block]:
    ids = [full for each in _ids(one) for full in context.storage.blocks.expand(each, 1)]
    found = context.storage.blocks.get(ids)
    return [found[i] for i in ids if i in found]


def plain(text: str) -> str:
    """Return a question as it is compared: whatever its case and the sign at its end."""
    return " ".join(text.casefold().split()).rstrip("?!. ")
