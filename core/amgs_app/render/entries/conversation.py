"""Conversations: what is held, what a model is given of one, and what became of the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs_app.render.catalogue import entry, title_of
from amgs_app.render.figures.format import plural
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from amgs.types.conversation import (
        ConversationAdded,
        ConversationStats,
        Message,
        OptimisedContext,
        RestoredSpan,
    )
    from amgs.types.conversation_views import ConversationActs, ConversationExtract, ConversationTopics
    from amgs_app.results import ConversationList, ConversationShown

_MESSAGES = "#:n role speaker~ at:at~ text*"


def _rows(messages: tuple[Message, ...]) -> list[tuple[object, ...]]:
    return [(m.number, m.role, m.speaker or None, m.at, _told(m)) for m in messages]


def _told(message: Message) -> str:
    """What a message says, with its calls, on one line."""
    calls = [f"{call.name}({call.arguments})" for call in message.calls]
    return " ".join(" ".join((message.text, *calls)).split())


@entry(sentence=title_of)
def conversation_added(result: ConversationAdded) -> ResultTable:
    size = result.last - result.first + 1
    done = f", as operation {result.operation}" if result.operation is not None else ""
    title = f"{result.conversation}: {plural(size, 'message')} added{done}"
    pairs = [
        ("messages", f"#{result.first}-{result.last}" if size else "none"),
        ("new blocks", result.blocks),
    ]
    after = "`consolidate` makes them searchable by meaning." if result.blocks else ""
    return facts(title, pairs, (*result.notes, after))


@entry()
def conversation_list(result: ConversationList) -> ResultTable:
    rows = [(one.name, one.messages, one.first, one.last) for one in result.conversations]
    note = "" if rows else "`conversation add NAME FILE` keeps one."
    title = plural(len(rows), "conversation")
    return sheet(title, "name* messages:n first:at last:at", rows, (note,))


@entry()
def conversation_shown(result: ConversationShown) -> ResultTable:
    hidden = result.total - len(result.messages)
    notes = (f"{plural(hidden, 'earlier message')} not shown" if hidden else "",)
    title = f"{result.conversation}: {plural(result.total, 'message')}"
    return sheet(title, _MESSAGES, _rows(result.messages), notes)


@entry(sentence=title_of)
def optimised_context(result: OptimisedContext) -> ResultTable:
    told = ", ".join(f"{result.count(fate):,} {fate}" for fate in ("kept", "masked", "digested", "dropped"))
    about = "estimated tokens" if result.estimated else "tokens"
    title = f"{result.conversation}: {result.tokens:,} of {result.history:,} {about}; messages: {told}"
    rows = [
        (one.handle, one.fate, one.last - one.first + 1, one.tokens, one.shown, one.worth, one.because)
        for one in result.spans
    ]
    stages = "; ".join(
        f"{row.stage} {row.before:,} − {row.taken:,} + {row.added:,} = {row.after:,}" for row in result.ledger
    )
    notes = (
        f"budget {result.budget:,}, counted by {result.counter}",
        f"ledger: {stages}",
        f"planned anew: {result.replanned}" if result.replanned else "",
        f"unchanged at the beginning: {result.stable_prefix:.1%}" if result.stable_prefix < 1 else "",
        f"plan: {result.plan}",
    )
    return sheet(title, "handle fate messages:n tokens:n shown:n worth:score because*", rows, notes)


@entry()
def restored_span(result: RestoredSpan) -> ResultTable:
    title = f"{result.conversation} {result.handle}: {plural(len(result.messages), 'message')}"
    return sheet(title, _MESSAGES, _rows(result.messages))


@entry()
def conversation_stats(result: ConversationStats) -> ResultTable:
    counted = f"tokens ({result.counter})"
    pairs: list[tuple[str, object]] = [
        ("messages", result.messages),
        (counted, result.tokens),
        *((role, f"{size:,} messages, {tokens:,} tokens") for role, size, tokens in result.by_role),
        ("calls of tools", f"{result.calls:,}, {result.open_calls:,} without a result"),
        ("blocks", f"{result.blocks:,}, {result.unconsolidated:,} not consolidated"),
        ("first", result.first),
        ("last", result.last),
    ]
    return facts(result.name, pairs)


@entry()
def conversation_topics(result: ConversationTopics) -> ResultTable:
    rows = [(one.handle, one.messages, one.thread, one.chance, ", ".join(one.terms)) for one in result.topics]
    title = f"{result.conversation}: {plural(len(rows), 'topic')}"
    return sheet(title, "handle messages:n thread:n chance:score terms*", rows)


@entry()
def conversation_acts(result: ConversationActs) -> ResultTable:
    rows = [
        (one.handle, one.kind, one.speaker, one.closed_by or "open", " ".join(one.text.split()))
        for one in result.acts
    ]
    title = f"{result.conversation}: {sum(not one.closed_by for one in result.acts):,} open"
    note = f"{result.closed:,} closed, shown with --closed" if result.closed else ""
    return sheet(title, "handle kind speaker~ status text*", rows, (note,))


@entry()
def conversation_extract(result: ConversationExtract) -> ResultTable:
    rows = [(one.part, one.slot, one.handle, " ".join(one.text.split())) for one in result.spans]
    title = f"{result.conversation}, by {result.level}: {plural(len(rows), 'span')} of {plural(result.parts, 'part')}"
    return sheet(title, "part slot handle text*", rows)
