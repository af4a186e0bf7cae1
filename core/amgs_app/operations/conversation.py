"""Conversations: `conversation add|list|show|stats|clear`, what of one a model should read: `conversation optimise|
compare|why|survival|validate|restore`, and what it is about: `conversation topics|acts|memories|summary`.
compare|why|restore`, and what it is about: `conversation topics|acts|summary|entities|references`.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from amgs.errors import UsageError
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.operations.arguments import Configuration, Limit
from amgs_app.results.memory import ConversationList, ConversationShown

if TYPE_CHECKING:
    from amgs.types import JournalEntry
    from amgs.types.conversation import (
        ContextComparison,
        ConversationAdded,
        ConversationKept,
        ConversationReferences,
        ConversationStats,
        OptimisedContext,
        RestoredSpan,
        SpanReason,
    )
    from amgs.types.conversation_memories import ConversationMemories
    from amgs.types.conversation_text import ConversationSurvival
    from amgs.types.conversation_views import ConversationActs, ConversationExtract, ConversationTopics
    from amgs.types.mentions import ConversationEntities, ConversationResolved
    from amgs_app.engine import Engine

Name = Annotated[str, Arg(metavar="NAME", help="The name of a conversation.")]
Handle = Annotated[str, Arg(metavar="HANDLE", help="#12 for a message, #12-15 for several.")]
LevelName = Literal["turn", "topic", "session", "cumulative"]
RestoreLevelName = Literal["minimal", "standard", "detailed", "complete"]
StrategyName = Literal["mask", "extractive", "digest", "hybrid", "levels"]
Query = Annotated[
    str, Arg(metavar="QUERY", help="What it is read for; default: the last message of the user.")
]
Budget = Annotated[
    int | None, Option("--budget", metavar="TOKENS", min=1, help="Token budget; default: 124,000.")
]
Strategy = Annotated[
    StrategyName | None,
    Option(
        "--strategy",
        metavar="NAME",
        help="mask, extractive, digest, hybrid, levels; default: the configuration's.",
    ),
]
Previous = Annotated[
    str, Option("--previous", metavar="PLAN", help="The plan of the previous context, kept while it fits.")
]
Until = Annotated[
    int | None,
    Option("--until", metavar="N", min=1, help="As it stood after message N; default: the last."),
]
Keep = Annotated[
    list[str] | None,
    Option("--keep", metavar="HANDLE", help="Messages that must stay whole; may be repeated."),
]

Least = Annotated[
    float,
    Option("--least", metavar="P", min=0.0, max=1.0, help="Minimum confidence, 0 to 1; default: 0.75."),
]
MentionTypeName = Literal[
    "person",
    "organisation",
    "place",
    "product",
    "event",
    "work",
    "group",
    "personal_object",
    "personal_relationship",
    "date",
    "deadline",
    "schedule",
    "time",
    "money",
    "percent",
    "quantity",
    "url",
    "email",
    "path",
    "command",
    "version",
    "identifier",
    "concept",
]


@operation(
    "conversation add",
    summary="Keep the messages of a conversation.",
    synonyms=("add a chat", "load a chat"),
    example="conversation add standup chat.jsonl",
    writes=True,
    creates=True,
)
def add(
    engine: Engine,
    conversation: Name,
    file: Annotated[
        Path | None,
        Arg(metavar="FILE", help="A file of JSON: a list of messages, or a message a line."),
        Takes("file"),
    ] = None,
    *,
    messages: Annotated[
        str | None,
        Option("--messages", metavar="JSON", help="The messages as a JSON list, instead of a file."),
    ] = None,
) -> ConversationAdded:
    """Add messages to the end of a conversation, which is made if there is none of that name.

    Messages are objects in the style of OpenAI or Anthropic, or `{"speaker": …, "text": …}`. They are kept exactly as
    they are, and taken in as raw blocks; `consolidate` makes them searchable by meaning. `undo` takes them back.
    """
    from amgs.conversation.messages import messages_in
    from amgs.exchange.importers.parsing import parse

    if (file is None) == (messages is None):
        raise UsageError("Give either FILE or --messages.", way_out="See `help conversation add`.")
    data = parse(file) if file is not None else _read(str(messages))
    return engine.memory.conversation.add(conversation, messages_in(data))


@operation(
    "conversation list",
    summary="List the conversations the memory holds.",
    example="conversation list",
    pane="conversation",
)
def conversations(engine: Engine) -> ConversationList:
    """List conversations by name, with the number of their messages and when they began and ended."""
    return ConversationList(engine.memory.conversation.list())


@operation(
    "conversation show",
    summary="Show the messages of a conversation.",
    example="conversation show standup --limit 20",
    pane="conversation",
)
def show(
    engine: Engine,
    conversation: Name,
    handle: Annotated[str, Arg(metavar="HANDLE", help="Only these: #12, or #12-15.")] = "",
    *,
    limit: Limit = 200,
    resolved: Annotated[
        bool,
        Option("--resolved", help="Show beside each message what its names, dates and pronouns refer to."),
    ] = False,
    least: Least = 0.75,
) -> ConversationShown:
    """Show the latest messages of a conversation, or those that a handle names, as they were said.

    What is resolved stands beside the text, which is the same with and without it.
    """
    found = engine.memory.conversation.show(conversation, handle)
    shown = found[-limit:]
    if not resolved or not shown:
        return ConversationShown(conversation, shown, len(found))
    given = f"#{shown[0].number}-{shown[-1].number}"
    mentions = engine.memory.conversation.mentions(conversation, given, least=least)
    waiting = engine.memory.conversation.stats(conversation).unresolved
    return ConversationShown(conversation, shown, len(found), mentions, waiting)


@operation(
    "conversation resolve",
    summary="Resolve what the words of messages refer to, beside them.",
    example="conversation resolve standup",
    writes=True,
)
def resolve(engine: Engine, conversation: Name) -> ConversationResolved:
    """Read the messages that were added since the last time with the parser, and keep what they mention: names with
    their types, whose something is, whom pronouns mean, each with its confidence. The texts stay as they are.

    Dates, amounts, addresses, paths and commands are kept by `conversation add` already. `undo` takes it back.
    """
    return engine.memory.conversation.resolve(conversation)


@operation(
    "conversation entities",
    summary="List the people, places and things that a conversation mentions.",
    example="conversation entities standup --type person",
    pane="conversation",
)
def entities(
    engine: Engine,
    conversation: Name,
    *,
    kind: Annotated[
        MentionTypeName | None, Option("--type", metavar="TYPE", help="Only entities of this type.")
    ] = None,
    least: Least = 0.75,
    limit: Limit = 50,
) -> ConversationEntities:
    """List people, organisations, places, what is somebody's, dates, amounts, paths and the rest, the most often
    mentioned first, with the messages that mention them. A mention below `--least` counts for nothing.
    """
    found = engine.memory.conversation.entities(conversation, type=kind, least=least)
    return replace(found, entities=found.entities[:limit])


@operation(
    "conversation optimise",
    summary="Choose what of a conversation a model should read.",
    synonyms=("compact", "compress", "shorten"),
    example='conversation optimise standup "who repairs the pump?" --budget 800',
    pane="conversation",
)
def optimise(
    engine: Engine,
    conversation: Name,
    query: Query = "",
    *,
    budget: Budget = None,
    strategy: Strategy = None,
    configuration: Configuration = "default",
    previous: Previous = "",
    until: Until = None,
    keep: Keep = None,
) -> OptimisedContext:
    """Show what is kept for a query, what becomes one line and what is left out, each with its reason and handle, and
    what each stage does to the tokens.

    Nothing is changed. What must be kept is kept whatever the query is: system prompts, pinned messages, the active
    task, and what --keep names. A call of a tool is kept with its results or not at all. `conversation restore` gives
    back what is left out.
    """
    return engine.memory.conversation.optimise(
        conversation,
        query,
        budget=budget,
        strategy=strategy,
        configuration=configuration,
        previous=previous,
        until=until,
        keep=keep or (),
    )


@operation(
    "conversation compare",
    summary="Compare two strategies for the same query and budget.",
    example='conversation compare standup "who repairs the pump?" --budget 800',
    pane="conversation",
)
def compare(
    engine: Engine,
    conversation: Name,
    query: Query = "",
    *,
    budget: Budget = None,
    a: Annotated[StrategyName, Option("--a", metavar="NAME", help="The first strategy.")] = "mask",
    b: Annotated[StrategyName, Option("--b", metavar="NAME", help="The second strategy.")] = "extractive",
    until: Until = None,
    keep: Keep = None,
) -> ContextComparison:
    """Show which messages one strategy keeps and the other does not, at an equal budget."""
    return engine.memory.conversation.compare(
        conversation, query, budget=budget, strategies=(a, b), until=until, keep=keep or ()
    )


@operation(
    "conversation why",
    summary="Explain why messages are kept or left out, and what would change that.",
    example="conversation why standup '#12' \"who repairs the pump?\"",
)
def why(
    engine: Engine,
    conversation: Name,
    handle: Handle,
    query: Query = "",
    *,
    budget: Budget = None,
    strategy: Strategy = None,
    configuration: Configuration = "default",
    until: Until = None,
    keep: Keep = None,
) -> SpanReason:
    """Show why messages have their fate, and each of the smallest changes that would keep them whole: the budget that
    would do, how much they would have to be worth, and what else would go if they had to stay.

    Every answer is a plan that was made, not an estimate.
    """
    return engine.memory.conversation.why(
        conversation,
        handle,
        query,
        budget=budget,
        strategy=strategy,
        configuration=configuration,
        until=until,
        keep=keep or (),
    )


@operation(
    "conversation restore",
    summary="Show messages that were left out, by their handle.",
    example="conversation restore standup '#12'",
)
def restore(
    engine: Engine,
    conversation: Name,
    handle: Handle,
    *,
    level: Annotated[
        RestoreLevelName,
        Option("--level", metavar="NAME", help="minimal, standard, detailed; complete: the messages."),
    ] = "complete",
    most: Annotated[
        int,
        Option(
            "--most",
            metavar="N",
            min=1,
            help="At most N sentences and findings of each kind; ignored for complete.",
        ),
    ] = 12,
) -> RestoredSpan:
    """Show messages byte for byte as they were said, or at a shorter level: their decisions, names, numbers, dates,
    paths, commands and ids (minimal), the sentences that weigh most too (standard), or every sentence that holds one of
    them (detailed).

    Nothing is said in other words: every piece has its handle. Beside it stands, for each class, what is in the text,
    what is one handle away and what is lost.
    """
    return engine.memory.conversation.restore(conversation, handle, level, most=most)


@operation(
    "conversation keep",
    summary="Keep messages whole in every context of a conversation.",
    example="conversation keep standup '#12'",
    writes=True,
)
def keep(
    engine: Engine,
    conversation: Name,
    handle: Annotated[str, Arg(metavar="HANDLE", help="#12, or #12-15; default: show what is kept.")] = "",
    *,
    drop: Annotated[
        bool, Option("--drop", help="Stop keeping these; without a HANDLE, stop keeping any.")
    ] = False,
    budget: Annotated[
        int | None,
        Option("--budget", metavar="TOKENS", min=1, help="Say whether a context of so many tokens can."),
    ] = None,
) -> ConversationKept:
    """Have every context keep messages whole from now on, as long as the budget holds them: what a model reads next
    through the gateway, and what `conversation optimise` shows. `undo` takes it back.
    """
    return engine.memory.conversation.keep(conversation, handle, drop=drop, budget=budget)


@operation(
    "conversation survival",
    summary="Count what of a conversation a context keeps, by class.",
    example='conversation survival standup "who repairs the pump?" --budget 800',
    pane="conversation",
)
def survival(
    engine: Engine,
    conversation: Name,
    query: Query = "",
    *,
    budget: Budget = None,
    strategy: Strategy = None,
    configuration: Configuration = "default",
    previous: Previous = "",
    until: Until = None,
    keep: Keep = None,
) -> ConversationSurvival:
    """Show of how many decisions, commitments, names, numbers, dates, paths, commands and ids stand in the context of
    `conversation optimise` word for word, how many are one handle away, and what is lost. Sentences that deny something
    are a class of their own.
    """
    return engine.memory.conversation.survival(
        conversation,
        query,
        budget=budget,
        strategy=strategy,
        configuration=configuration,
        previous=previous,
        until=until,
        keep=keep or (),
    )


@operation(
    "conversation validate",
    summary="Check a summary against a conversation.",
    example='conversation validate standup "Ana repairs the pump."',
)
def validate(
    engine: Engine,
    conversation: Name,
    text: Annotated[str, Arg(metavar="TEXT", help="What was made of it, as a model's summary.")],
    *,
    handle: Annotated[
        str, Option("--handle", metavar="HANDLE", help="The messages it summarises; default: all.")
    ] = "",
) -> ConversationSurvival:
    """Show what of a conversation a text has word for word, what its handles bring back, what is lost, and each name,
    number, date, path, command and id that it makes up.
    """
    return engine.memory.conversation.validate(conversation, text, handle)


@operation(
    "conversation topics",
    summary="List the topics of a conversation.",
    example="conversation topics standup",
    pane="conversation",
)
def topics(engine: Engine, conversation: Name) -> ConversationTopics:
    """List topics in the order of time; those of one thread are on the same thing. A handle restores its messages."""
    return engine.memory.conversation.topics(conversation)


@operation(
    "conversation acts",
    summary="List open questions, goals and commitments.",
    example="conversation acts standup",
    pane="conversation",
)
def acts(
    engine: Engine,
    conversation: Name,
    *,
    closed: Annotated[bool, Option("--closed", help="Also show those that a later message closed.")] = False,
) -> ConversationActs:
    """List what was asked, wanted and promised and is still open. What closed one is named beside it."""
    return engine.memory.conversation.acts(conversation, closed=closed)


@operation(
    "conversation memories",
    summary="Show the four memories of a conversation.",
    example="conversation memories standup --recent 20",
    pane="conversation",
)
def memories(
    engine: Engine,
    conversation: Name,
    *,
    recent: Annotated[
        int, Option("--recent", metavar="N", min=1, help="How many of the latest messages are at hand.")
    ] = 20,
) -> ConversationMemories:
    """Show what is at hand (short-term), what is open (working: questions, goals, commitments, calls without a result),
    what is held by session (long-term) and the topics, those first where the talk turned most surely (episodic).

    All are views of the messages; a handle restores them, and nothing is written.
    """
    return engine.memory.conversation.memories(conversation, recent=recent)


@operation(
    "conversation summary",
    summary="Summarise a conversation in its own words.",
    example="conversation summary standup --sentences 5",
)
def summary(
    engine: Engine,
    conversation: Name,
    *,
    level: Annotated[
        LevelName, Option("--level", metavar="NAME", help="turn, topic, session, or cumulative: all.")
    ] = "cumulative",
    sentences: Annotated[
        int, Option("--sentences", metavar="N", min=1, help="At most N sentences for each part.")
    ] = 5,
) -> ConversationExtract:
    """Show sentences, decisions, open questions, names, numbers, dates, paths and commands, each with its handle.

    Every level is made from the messages themselves, never from another summary.
    """
    return engine.memory.conversation.summary(conversation, level, sentences=sentences)


@operation(
    "conversation references",
    summary="Show whom the messages of a conversation refer to.",
    example="conversation references standup '#12'",
)
def references(
    engine: Engine,
    conversation: Name,
    handle: Annotated[str, Arg(metavar="HANDLE", help="Only in these: #12, or #12-15.")] = "",
    *,
    least: Least = 0.75,
    limit: Limit = 200,
) -> ConversationReferences:
    """Show who is meant by I, you and we, by he and she, by names and kin, each with its confidence and by what. The
    texts stay as they are, and nothing is written. Below `--least` nothing is said. Once `conversation resolve` has
    read all messages, what it kept is shown; else the whole conversation is read for it.
    """
    found = engine.memory.conversation.references(conversation, handle, least=least)
    return replace(found, references=found.references[-limit:])


@operation(
    "conversation stats",
    summary="Count the messages and tokens of a conversation.",
    example="conversation stats standup",
)
def stats(engine: Engine, conversation: Name) -> ConversationStats:
    """Count messages, tokens by role, calls of tools, and blocks that wait to be consolidated; and show what each
    configuration of `conversation optimise` does.
    """
    return engine.memory.conversation.stats(conversation)


@operation(
    "conversation clear",
    summary="Drop a conversation: what only it holds is archived.",
    synonyms=("erase", "remove"),
    example="conversation clear standup",
    writes=True,
)
def clear(engine: Engine, conversation: Name) -> JournalEntry:
    """Let a conversation go: what no other source holds of it is archived. `undo` brings it back."""
    return engine.memory.conversation.clear(conversation)


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The messages are no JSON: {error}.", way_out="Give a list of objects.") from error
