"""Tables for conversations: messages, entities, topics, contexts, survival."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from amgs.text.words import plural, tell_again
from amgs.types.conversation import SPAN_FATES
from amgs.types.conversation_views import MEMORY_KINDS
from amgs_app.render.catalogue import draw_table, entry, places, title_of
from amgs_app.render.rows import RowList, Rows, Tone, join
from amgs_app.render.sheet import ResultTable, facts, sheet

if TYPE_CHECKING:
    from datetime import datetime

    from rich.console import RenderableType
    from rich.text import Text

    from amgs.types.conversation import (
        ContextComparison,
        ContextSpan,
        ConversationAdded,
        ConversationKept,
        ConversationStats,
        ConversationSummary,
        FateChange,
        Message,
        OptimisedContext,
        RestoredSpan,
        SpanReason,
    )
    from amgs.types.conversation_views import (
        ClassSurvival,
        ConversationAct,
        ConversationActs,
        ConversationEntities,
        ConversationEntity,
        ConversationExtract,
        ConversationMemories,
        ConversationResolved,
        ConversationSurvival,
        ConversationTopic,
        ConversationTopics,
        MemoryMember,
        SummarySpan,
    )
    from amgs_app.render.canvas import Canvas
    from amgs_app.results.memory import ConversationList, ConversationShown
    from amgs_app.session import Operator

_TOLD = 3
"""Examples of missing values in a row."""
LEAST_ODDS = 0.05
"""Smaller log odds would be printed as zero."""
_MOST_HANDLES = 6
_FATES: Final[dict[str, Tone]] = {"kept": "good", "masked": "warn", "digested": "accent"}

SPANS: Final = Rows["ContextSpan"](
    "handle! fate! messages:n? tokens:n shown:n worth:score= because* first:n.",
    lambda span: (
        span.handle,
        span.fate,
        span.last - span.first + 1,
        span.tokens,
        span.shown,
        span.worth,
        span.because,
        span.first,
    ),
    tones=_FATES,
    pane="conversation",
)
CHANGES: Final = Rows["FateChange"](
    "handle! A! B! messages:n? tokens:n first:n.",
    lambda change: (
        change.handle,
        change.before,
        change.after,
        change.last - change.first + 1,
        change.tokens,
        change.first,
    ),
    tones=_FATES,
    empty=("Both make the same of every message.",),
    pane="conversation",
)
LISTING: Final = join(SPANS, CHANGES)
MESSAGES: Final = Rows["tuple[Message, str]"](
    "#:n role speaker~ at:at~ text* resolved*~",
    lambda row: (row[0].number, row[0].role, row[0].speaker or None, row[0].at, _tell(row[0]), row[1] or None),
)
HELD: Final = Rows["ConversationSummary"](
    "name* messages:n first:at last:at",
    lambda summary: (summary.name, summary.messages, summary.first, summary.last),
    empty=("`conversation add NAME FILE` stores a conversation.",),
)
ENTITIES: Final = Rows["ConversationEntity"](
    "name* type mentions:n confidence:score messages",
    lambda entity: (
        entity.name,
        _words(entity.type),
        len(entity.mentions),
        entity.confidence,
        _handles(entity.handles),
    ),
)
CLASSES: Final = Rows["ClassSurvival"](
    "class! there:n window:n handle:n lost:n stands:score=+ missing*",
    lambda survival: (
        survival.kind,
        survival.there,
        survival.in_window,
        survival.one_handle_away,
        survival.lost,
        survival.in_window / survival.there if survival.there else None,
        ", ".join(f"{' '.join(value.split())} ({where})" for value, where in survival.missing[:_TOLD]),
    ),
)
TOPICS: Final = Rows["ConversationTopic"](
    "handle! messages:n chance:score= terms*",
    lambda topic: (topic.handle, topic.messages, topic.chance, ", ".join(topic.terms)),
)
MEMBERS: Final = Rows["MemoryMember"](
    "memory! kind handle tokens:n surprise:score text*",
    lambda member: (member.memory, member.kind, member.handle, member.tokens, member.surprise or None, member.text),
)
ACTS: Final = Rows["ConversationAct"](
    "handle! kind! speaker~ status text*",
    lambda act: (act.handle, act.kind, act.speaker, act.closed_by or "open", " ".join(act.text.split())),
    tones={"open": "warn"},
)
EXTRACTS: Final = Rows["SummarySpan"](
    "part slot! handle text*", lambda span: (span.part, span.slot, span.handle, " ".join(span.text.split()))
)


def _tell(message: Message) -> str:
    """Return a message with its tool calls on a single line."""
    calls = [f"{call.name}({call.arguments})" for call in message.calls]
    return " ".join(" ".join((message.text, *calls)).split())


def _words(name: str) -> str:
    return name.replace("_", " ")


def _handles(handles: tuple[str, ...]) -> str:
    more = len(handles) - _MOST_HANDLES
    return " ".join(handles[:_MOST_HANDLES]) + (f" and {more:,} more" if more > 0 else "")


@entry(sentence=title_of)
def tabulate_added_messages(result: ConversationAdded) -> ResultTable:
    size = result.last - result.first + 1
    done = "".join(f"; {note}" for note in tell_again(result.again))
    done += f", as operation {result.operation}" if result.operation is not None else ""
    title = f"{result.conversation}: {plural(size, 'message')} added{done}"
    pairs = [("messages", f"#{result.first}-{result.last}" if size else "none"), ("new blocks", result.blocks)]
    after = "`consolidate` makes them searchable by meaning." if result.blocks else ""
    return facts(title, pairs, (*result.notes, after))


@entry(figure=draw_table)
def conversation_list(result: ConversationList) -> RowList[ConversationSummary]:
    return HELD.of(plural(len(result.conversations), "conversation"), result.conversations)


def _read(result: ConversationShown, canvas: Canvas, now: datetime) -> RenderableType:
    from amgs.conversation.citing import handle
    from amgs_app.conversation.figure import transcript

    del now
    shown = result.messages
    extent = f" {handle(shown[0].number, shown[-1].number)}" if shown else ""
    title = f"{result.conversation}{extent}: {plural(len(shown), 'message')}"
    return transcript(title, shown, canvas, result.mentions)


@entry(figure=draw_table, page=_read)
def tabulate_messages(result: ConversationShown) -> RowList[tuple[Message, str]]:
    hidden = result.total - len(result.messages)
    notes = (f"{plural(hidden, 'earlier message')} not shown" if hidden else "", _waiting(result.waiting))
    beside: dict[int, list[str]] = defaultdict(list)
    for mention in result.mentions:
        meaning = f"{mention.text} = {', '.join(mention.means)}" if mention.means != (mention.text,) else mention.text
        beside[mention.number].append(f"{meaning} ({_words(mention.type)})")
    rows = [(message, "; ".join(beside[message.number])) for message in result.messages]
    return MESSAGES.of(f"{result.conversation}: {plural(result.total, 'message')}", rows, notes)


def _waiting(messages: int) -> str:
    return f"{plural(messages, 'message')} not read by `conversation resolve`" if messages else ""


@entry(sentence=title_of)
def tabulate_resolution(result: ConversationResolved) -> ResultTable:
    done = f", as operation {result.operation}" if result.operation is not None else ""
    title = f"{result.conversation}: {plural(result.messages, 'message')} resolved{done}"
    return facts(title, [("messages", result.messages), ("mentions", result.mentions)])


@entry(figure=draw_table)
def conversation_entities(result: ConversationEntities) -> RowList[ConversationEntity]:
    total = plural(len(result.entities), "entity", "entities")
    notes = (
        f"{plural(result.withheld, 'mention')} less sure, not shown" if result.withheld else "",
        _waiting(result.waiting),
    )
    title = f"{result.conversation}: {total} with a confidence of {result.least:g} or more"
    return ENTITIES.of(title, result.entities, notes)


def _draw_context(operator: Operator, result: OptimisedContext, canvas: Canvas) -> Text:
    from amgs_app.conversation.figure import figure

    listed = SPANS.of("", result.spans)
    return figure(result, canvas, rows=listed.keep(places(operator, "conversation", listed.fields)).items).render()


@entry(figure=_draw_context, sentence=title_of)
def tabulate_optimised_context(result: OptimisedContext) -> RowList[ContextSpan]:
    counts = {fate: result.count(fate) for fate in SPAN_FATES}
    fates = ", ".join(f"{number:,} {fate}" for fate, number in counts.items() if number or fate == "kept")
    about = "estimated tokens" if result.estimated else "tokens"
    title = f"{result.conversation}: {result.tokens:,} of {result.history:,} {about}; messages: {fates}"
    stages = "; ".join(
        f"{row.stage} {row.before:,} − {row.taken:,} + {row.added:,} = {row.after:,}" for row in result.ledger
    )
    notes = (
        f"budget {result.budget:,}, counted by {result.counter}",
        f"ledger: {stages}",
        f"planned anew: {result.replanned}" if result.replanned else "",
        f"unchanged at the beginning: {result.stable_prefix:.1%}; {result.resent:,} tokens are sent anew"
        if result.stable_prefix < 1
        else "",
        f"left out, above all: {result.dropped_summary}" if result.dropped_summary else "",
        f"plan: {result.plan}",
    )
    return SPANS.of(title, result.spans, notes)


def _draw_comparison(operator: Operator, result: ContextComparison, canvas: Canvas) -> Text:
    from amgs_app.conversation.figure import compare

    listed = CHANGES.of("", result.changes)
    return compare(result, canvas, listed.keep(places(operator, "conversation", listed.fields)).items).render()


@entry(figure=_draw_comparison, sentence=title_of)
def context_comparison(result: ContextComparison) -> RowList[FateChange]:
    a, b = result.a, result.b
    title = (
        f"{a.conversation}: A {a.strategy} {a.tokens:,}, B {b.strategy} {b.tokens:,} of {a.budget:,} tokens; "
        f"{plural(sum(change.last - change.first + 1 for change in result.changes), 'message')} fare differently"
    )
    counted = [
        f"{name}: " + ", ".join(f"{context.count(fate):,} {fate}" for fate in SPAN_FATES if context.count(fate))
        for name, context in (("A", a), ("B", b))
    ]
    return CHANGES.of(title, result.changes, counted)


@entry(sentence=title_of)
def span_reason(result: SpanReason) -> ResultTable:
    about = "estimated tokens" if result.estimated else "tokens"
    fate = "kept whole" if result.kept else "not kept whole"
    title = f"{result.conversation} {result.handle}: {fate} in {result.budget:,} {about}"
    pairs: list[tuple[str, object]] = [
        (span.handle, f"{span.fate}: {span.because}; worth {span.worth:.2f}") for span in result.spans
    ]
    pairs.append(("tokens", result.tokens))
    telling = [(name, part) for name, part in result.layers if abs(part) >= LEAST_ODDS]
    if telling:
        pairs.append(("log odds over the mean", ", ".join(f"{name} {part:+.1f}" for name, part in telling)))
    if not result.kept:
        pairs += _ways(result)
    return facts(title, pairs)


def _ways(result: SpanReason) -> list[tuple[str, object]]:
    """Return what would keep messages that are left out: a larger budget, or dropping others."""
    ways: list[tuple[str, object]] = []
    if result.budget_needed is not None:
        more = result.budget_needed - result.budget
        ways.append(("a larger budget", f"{result.budget_needed:,} tokens, {more:,} more"))
    if result.impossible:
        ways.append(("keeping it", result.impossible))
    elif result.displaced:
        lost = ", ".join(
            f"{change.handle} ({change.tokens:,}) {'goes' if change.after == 'dropped' else f'is {change.after}'}"
            for change in result.displaced
        )
        ways.append(("keeping it", lost))
    else:
        ways.append(("keeping it", "nothing else would go"))
    return ways


def _draw_restored(result: RestoredSpan, canvas: Canvas, now: datetime) -> RenderableType:
    from amgs_app.conversation.figure import transcript

    del now
    if result.level != "complete":
        from amgs_app.render.catalogue import table_of
        from amgs_app.render.sheet import to_table

        return to_table(table_of(result))
    return transcript(title_of(result), result.messages, canvas)


@entry(page=_draw_restored)
def tabulate_restored_span(result: RestoredSpan) -> ResultTable:
    if result.level == "complete":
        title = f"{result.conversation} {result.handle}: {plural(len(result.messages), 'message')}"
        return MESSAGES.of(title, [(message, "") for message in result.messages]).table()
    title = (
        f"{result.conversation} {result.handle}, {result.level}: {result.tokens:,} of {result.history:,} tokens; "
        f"{_verdict(result.verdict, result.survival)}"
    )
    notes = [
        f"{survival.kind}: {survival.in_window:,} of {survival.there:,} here"
        + (f", {survival.one_handle_away:,} one handle away" if survival.one_handle_away else "")
        + (f", {survival.lost:,} lost" if survival.lost else "")
        for survival in result.survival
    ]
    return sheet(title, "text*", [(line,) for line in result.text.split("\n")], notes)


def _draw_survival(operator: Operator, result: ConversationSurvival, canvas: Canvas) -> Text:
    del operator
    return _survival(result).draw(canvas).render()


@entry(figure=_draw_survival, sentence=title_of)
def conversation_survival(result: ConversationSurvival) -> RowList[ClassSurvival]:
    return _survival(result)


def _survival(result: ConversationSurvival) -> RowList[ClassSurvival]:
    about = "estimated tokens" if result.estimated else "tokens"
    title = (
        f"{result.conversation} {result.handle}: {_verdict(result.verdict, result.classes)}; "
        f"{result.tokens:,} of {result.history:,} {about}"
    )
    notes = [
        f"invented {survival.kind}: {', '.join(survival.invented)}" for survival in result.classes if survival.invented
    ]
    return CLASSES.of(title, result.classes, (result.of, *notes))


def _verdict(verdict: str, classes: tuple[ClassSurvival, ...]) -> str:
    """Return the verdict and the classes that cause it."""
    worst = [survival.kind for survival in classes if survival.verdict == verdict]
    return verdict if verdict == "whole" else f"{verdict}: {', '.join(worst)}"


@entry(figure=draw_table)
def conversation_stats(result: ConversationStats) -> ResultTable:
    counted = f"tokens ({result.counter})"
    pairs: list[tuple[str, object]] = [
        ("messages", result.messages),
        (counted, result.tokens),
        *((role, f"{plural(size, 'message')}, {plural(tokens, 'token')}") for role, size, tokens in result.by_role),
        ("calls of tools", f"{result.calls:,}, {result.open_calls:,} without a result"),
        ("blocks", f"{result.blocks:,}, {result.unconsolidated:,} not consolidated"),
        ("not resolved", plural(result.unresolved, "message")),
        ("first", result.first),
        ("last", result.last),
        ("kept in every context", ", ".join(result.kept) or "nothing by hand"),
    ]
    return facts(result.name, pairs)


@entry(sentence=title_of, quiet=True)
def tabulate_kept_messages(result: ConversationKept) -> ResultTable:
    done = f", as operation {result.operation}" if result.operation is not None else ""
    statement = (
        f"kept in every context that has room: {', '.join(result.kept)}" if result.kept else "nothing is kept by hand"
    )
    if result.impossible:
        statement = f"a context of this budget cannot keep {', '.join(result.kept)}; larger ones do"
    pairs = [("kept", ", ".join(result.kept) or "nothing")]
    if result.impossible:
        pairs.append(("this budget", result.impossible))
    return facts(f"{result.conversation}: {statement}{done}", pairs)


@entry(figure=draw_table)
def conversation_topics(result: ConversationTopics) -> RowList[ConversationTopic]:
    return TOPICS.of(f"{result.conversation}: {plural(len(result.topics), 'topic')}", result.topics)


@entry(figure=draw_table)
def conversation_memories(result: ConversationMemories) -> RowList[MemoryMember]:
    counted = [(memory, result.of(memory)) for memory in MEMORY_KINDS]
    sizes = "; ".join(
        f"{memory}: {len(members):,}, {sum(member.tokens for member in members):,} tokens"
        for memory, members in counted
    )
    notes = (
        f"{sizes}, counted by {result.counter}",
        f"now: {', '.join(result.topic)}" if result.topic else "",
        f"calls of tools done: {result.calls_done:,}",
        "the user is asked back" if result.asked_back else "",
    )
    title = f"{result.conversation}: {plural(len(result.of('working')), 'thing')} open, {plural(result.turns, 'turn')}"
    return MEMBERS.of(title, result.members, notes)


@entry(figure=draw_table)
def conversation_acts(result: ConversationActs) -> RowList[ConversationAct]:
    title = f"{result.conversation}: {sum(not act.closed_by for act in result.acts):,} open"
    return ACTS.of(title, result.acts, (f"{result.closed:,} closed, not listed" if result.closed else "",))


@entry(figure=draw_table)
def conversation_extract(result: ConversationExtract) -> RowList[SummarySpan]:
    extent = f"{plural(len(result.spans), 'span')} of {plural(result.parts, 'part')}"
    return EXTRACTS.of(f"{result.conversation}, by {result.level}: {extent}", result.spans)
