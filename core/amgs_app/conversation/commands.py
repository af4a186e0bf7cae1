"""Conversations: `conversation add|list|show|resolve|keep|clear`, the context chosen for a model
(`optimise|why|restore`), and the requests of agents through the gateway (`exchanges`).
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, Unpack

from amgs.errors import InputError, UsageError
from amgs.incoming import say_json_fault
from amgs.types.conversation_views import MentionType
from amgs_app import results
from amgs_app.calls.marks import (
    Arg,
    Budget,
    Configuration,
    ContextGiven,
    Handle,
    Keep,
    Limit,
    Name,
    Option,
    Previous,
    Query,
    Strategy,
    StrategyName,
    Takes,
    Until,
    read_context,
)
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.types import JournalEntry
    from amgs.types.conversation import (
        ContextComparison,
        ConversationAdded,
        ConversationKept,
        ConversationStats,
        OptimisedContext,
        RestoredSpan,
        SpanReason,
    )
    from amgs.types.conversation_views import (
        ConversationActs,
        ConversationEntities,
        ConversationExtract,
        ConversationMemories,
        ConversationResolved,
        ConversationSurvival,
        ConversationTopics,
    )
    from amgs.types.gateway import GatewayExchange
    from amgs_app.engine import Engine


View = Literal[
    "messages", "mentions", "entities", "topics", "acts", "memories", "summary", "stats", "survival", "compare"
]
LevelName = Literal["turn", "topic", "session", "cumulative"]
RestoreLevelName = Literal["minimal", "standard", "detailed", "complete"]
EntityType = Annotated[MentionType | None, Option("--type", metavar="TYPE", help="Only entities of this type.")]


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
        Arg(metavar="FILE", help="An agent's session file, or JSON: a list of messages, or a message per line."),
        Takes("file"),
    ] = None,
    *,
    messages: Annotated[
        str | None, Option("--messages", metavar="JSON", help="The messages as a JSON list, instead of a file.")
    ] = None,
) -> ConversationAdded:
    """Add messages to the end of a conversation, which is created if there is none of that name.

    Messages are objects in the style of OpenAI or Anthropic, or `{"speaker": …, "text": …}`. They are stored exactly as
    they are, and taken in as raw blocks; `consolidate` makes them searchable by meaning. `undo` takes them back.

    Of a session file of Claude Code, Codex and other agents, the main conversation is taken: what was said, calls and
    results of tools, summaries. Notes say what became of every record.
    """
    from amgs.conversation.messages import messages_in
    from amgs.exchange.importers.parsing import parse
    from amgs.sessions.conversation import conversations_in

    if (file is None) == (messages is None):
        raise UsageError("Give either FILE or --messages.", way_out="See `help conversation add`.")
    if file is None:
        return engine.memory.conversation.add(conversation, messages_in(_read(str(messages))))
    sessions = conversations_in(file)
    latest = next(sessions, None)
    if latest is None:
        return engine.memory.conversation.add(conversation, messages_in(parse(file)))
    notes = list(latest.notes)
    if not latest.messages:
        raise InputError(f"{file} holds no message.", way_out=" ".join(notes))
    if next(sessions, None) is not None:
        notes.append("The file holds other sessions too; this is the latest. `import` takes them all.")
    added = engine.memory.conversation.add(conversation, [turn_message.message for turn_message in latest.messages])
    return replace(added, notes=(*notes, *added.notes))


@operation(
    "conversation list",
    summary="List the conversations the memory holds.",
    example="conversation list",
    pane="conversation",
)
def conversations(engine: Engine) -> results.ConversationList:
    """List conversations by name, with the number of their messages and when they began and ended."""
    return results.ConversationList(engine.memory.conversation.list())


_CONTEXTS: Final[tuple[View, ...]] = ("survival", "compare")
_OF_VIEW: Final[dict[str, tuple[View, ...]]] = {
    "HANDLE": ("messages", "mentions", "survival"),
    "--limit": ("messages", "mentions", "entities", "memories", "summary"),
    "--least": ("mentions", "entities"),
    "--type": ("entities",),
    "--closed": ("acts",),
    "--level": ("summary",),
    "--text": ("survival",),
    "--against": ("compare",),
    "--previous": ("survival",),
    "--configuration": ("survival",),
    **dict.fromkeys(("--query", "--budget", "--until", "--keep", "--strategy"), _CONTEXTS),
}
"""Views for which each argument of `show` is valid."""


@operation(
    "conversation show",
    summary="Show a conversation: its messages, or any of nine views.",
    synonyms=("topics", "summary", "open questions", "commitments", "survival", "compare contexts", "check a summary"),
    example="conversation show standup --view topics",
    pane="conversation",
)
def show(
    engine: Engine,
    conversation: Name,
    handle: Annotated[str, Arg(metavar="HANDLE", help="Only these: #12, or #12-15.")] = "",
    *,
    view: Annotated[
        View,
        Option(
            "--view",
            metavar="VIEW",
            help="messages, mentions, entities, topics, acts, memories, summary, stats, survival or compare.",
        ),
    ] = "messages",
    limit: Annotated[
        int | None,
        Option(
            "--limit", metavar="N", min=1, help="At most N messages (200), entities (50), at hand (20), sentences (5)."
        ),
    ] = None,
    least: Annotated[
        float | None,
        Option("--least", metavar="P", min=0.0, max=1.0, help="Minimum confidence, 0 to 1; default: 0.75."),
    ] = None,
    kind: EntityType = None,
    closed: Annotated[bool, Option("--closed", help="Also show the acts that a later message closed.")] = False,
    level: Annotated[
        LevelName | None,
        Option("--level", metavar="NAME", help="Of a summary: turn, topic, session; default: cumulative, all."),
    ] = None,
    query: Annotated[
        str, Option("--query", metavar="QUERY", help="Of a context: what it is read for; default: the last message.")
    ] = "",
    text: Annotated[
        str, Option("--text", metavar="TEXT", help="Hold this text, as a model's summary, against the messages.")
    ] = "",
    against: Annotated[
        StrategyName, Option("--against", metavar="NAME", help="The strategy to compare with; default: mask.")
    ] = "mask",
    previous: Previous = "",
    budget: Budget = None,
    strategy: Strategy = None,
    configuration: Configuration = "default",
    until: Until = None,
    keep: Keep = None,
) -> (
    results.ConversationShown
    | ConversationEntities
    | ConversationTopics
    | ConversationActs
    | ConversationMemories
    | ConversationExtract
    | ConversationStats
    | ConversationSurvival
    | ContextComparison
):
    """Show the latest messages of a conversation, or those that a handle names, as they were said; or a view of it.

    Its views:
    - messages: as they were said: `conversation show standup "#12-15"`
    - mentions: beside each message what its names, dates and pronouns refer to:
      `conversation show standup --view mentions`
    - entities: the people, places and things in it, the most often mentioned first:
      `conversation show standup --view entities --type person`
    - topics: in the order of time: `conversation show standup --view topics`
    - acts: what was asked, wanted and promised and is still open: `conversation show standup --view acts --closed`
    - memories: what is at hand, what is open, what is held by session, and the topics:
      `conversation show standup --view memories --limit 20`
    - summary: sentences, decisions, open questions, names, numbers, dates, paths and commands, always from the messages
      themselves: `conversation show standup --view summary --level topic`
    - stats: messages, tokens by role, calls of tools, and what waits: `conversation show standup --view stats`
    - survival: of how many decisions, names, numbers, dates, paths, … a context of `conversation optimise` has word for
      word, how many are one handle away, and what is lost: `conversation show standup --view survival --budget 800`;
      with --text, what that text has, and what it makes up:
      `conversation show standup --view survival --text "Ana repairs the pump."`
    - compare: which messages one strategy keeps and another does not:
      `conversation show standup --view compare --budget 800 --against mask`

    A handle restores its messages; nothing is written.
    """
    used = {
        "HANDLE": handle,
        "--type": kind,
        "--limit": limit,
        "--least": least,
        "--closed": closed,
        "--level": level,
        "--query": query,
        "--text": text,
        "--previous": previous,
        "--against": against if against != "mask" else "",
        "--configuration": configuration if configuration != "default" else "",
        "--budget": budget,
        "--until": until,
        "--keep": keep,
        "--strategy": strategy,
    }
    for name, value in used.items():
        if value not in (None, "", False) and view not in _OF_VIEW[name]:
            views = " and ".join(f"`--view {other_view}`" for other_view in _OF_VIEW[name])
            raise UsageError(f"{name} means nothing with `--view {view}`.", way_out=f"It is for {views}.")
    conversation_api = engine.memory.conversation
    least = 0.75 if least is None else least
    match view:
        case "entities":
            entities = conversation_api.entities(conversation, type=kind, least=least)
            return replace(entities, entities=entities.entities[: limit or 50])
        case "topics":
            return conversation_api.topics(conversation)
        case "acts":
            return conversation_api.acts(conversation, closed=closed)
        case "memories":
            return conversation_api.memories(conversation, recent=limit or 20)
        case "summary":
            return conversation_api.summary(conversation, level or "cumulative", sentences=limit or 5)
        case "stats":
            return conversation_api.stats(conversation)
        case "survival" if text:
            return conversation_api.validate(conversation, text, handle)
        case "survival":
            return conversation_api.survival(
                conversation,
                query,
                budget=budget,
                strategy=strategy,
                configuration=configuration,
                previous=previous,
                until=until,
                keep=keep or (),
            )
        case "compare":
            strategies = (against, strategy or "extractive")
            return conversation_api.compare(
                conversation, query, budget=budget, strategies=strategies, until=until, keep=keep or ()
            )
    messages = conversation_api.show(conversation, handle)
    shown = messages[-(limit or 200) :]
    if view == "messages" or not shown:
        return results.ConversationShown(conversation, shown, len(messages))
    mentions = conversation_api.mentions(conversation, f"#{shown[0].number}-{shown[-1].number}", least=least)
    return results.ConversationShown(
        conversation, shown, len(messages), mentions, conversation_api.stats(conversation).unresolved
    )


@operation(
    "conversation resolve",
    summary="Resolve what the words of messages refer to, beside them.",
    example="conversation resolve standup",
    writes=True,
)
def resolve(engine: Engine, conversation: Name) -> ConversationResolved:
    """Read the messages that were added since the last time with the parser, and keep what they mention: names with
    their types, whose something is, whom pronouns mean, each with its confidence. The texts stay as they are.

    Dates, amounts, addresses, paths and commands are stored by `conversation add` already. `undo` takes it back.
    """
    return engine.memory.conversation.resolve(conversation)


@operation(
    "conversation optimise",
    summary="Choose what of a conversation a model should read.",
    synonyms=("compact", "compress", "shorten"),
    example='conversation optimise standup "who repairs the pump?" --budget 800',
    pane="conversation",
)
def optimise(
    engine: Engine, conversation: Name, query: Query = "", *, previous: Previous = "", **options: Unpack[ContextGiven]
) -> OptimisedContext:
    """Show what stays for a query, what becomes one line and what is left out, each with its reason and handle, and
    what each stage does to the tokens.

    Nothing is changed. Some messages stay whatever the query is: system prompts, pinned messages, the active task, who
    the user is, and what --keep names. A call of a tool stays with its results or not at all. `conversation restore`
    gives back what is left out; `conversation show --view survival` counts what stands, `--view compare` holds two
    strategies beside each other.
    """
    return engine.memory.conversation.optimise(conversation, query, previous=previous, **read_context(options))


@operation(
    "conversation why",
    summary="Explain why messages are included or left out, and what would change that.",
    example="conversation why standup '#12' \"who repairs the pump?\"",
)
def why(
    engine: Engine, conversation: Name, handle: Handle, query: Query = "", **options: Unpack[ContextGiven]
) -> SpanReason:
    """Show why messages have their fate, and each of the smallest changes that would keep them whole: the budget that
    would do, and what else would go if they had to stay.

    Every answer is a computed plan, not an estimate.
    """
    return engine.memory.conversation.why(conversation, handle, query, **read_context(options))


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
        RestoreLevelName, Option("--level", metavar="NAME", help="minimal, standard, detailed; complete: the messages.")
    ] = "complete",
    most: Annotated[
        int,
        Option(
            "--limit", metavar="N", min=1, help="At most N sentences and findings of each kind; ignored for complete."
        ),
    ] = 12,
) -> RestoredSpan:
    """Show messages byte for byte as they were said, or at a shorter level: their decisions, names, numbers, dates,
    paths, commands and ids (minimal), the sentences that weigh most too (standard), or every sentence that holds any of
    them (detailed).

    Nothing is said in other words: every piece has its handle. Beside it stands, for each class, what is in the text,
    what is one handle away and what is lost.
    """
    return engine.memory.conversation.restore(conversation, handle, level, most=most)


@operation(
    "conversation keep",
    summary="Keep messages whole in every context whose budget holds them.",
    example="conversation keep standup '#12'",
    writes=True,
)
def keep(
    engine: Engine,
    conversation: Name,
    handle: Annotated[str, Arg(metavar="HANDLE", help="#12, or #12-15; default: show what stays.")] = "",
    *,
    drop: Annotated[bool, Option("--drop", help="Stop keeping these; without a HANDLE, stop keeping any.")] = False,
    budget: Annotated[
        int | None, Option("--budget", metavar="TOKENS", min=1, help="Say whether a context of so many tokens can.")
    ] = None,
) -> ConversationKept:
    """Have every context keep messages whole from now on, as long as the budget holds them: what a model reads next
    through the gateway, and what `conversation optimise` shows. `undo` takes it back.
    """
    return engine.memory.conversation.keep(conversation, handle, drop=drop, budget=budget)


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
    """Parse the messages in JSON; raises UsageError."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"Of the messages: {say_json_fault(error)}.", way_out="Give a list of objects.") from error


@operation(
    "conversation exchanges",
    summary="List what agents asked their model through the gateway, or show a request in full.",
    example="conversation exchanges 3",
    pane="conversation",
)
def exchanges(
    engine: Engine,
    number: Annotated[
        int | None, Arg(metavar="NUMBER", min=1, help="A request, by its number in the list; default: list.")
    ] = None,
    *,
    limit: Limit = 50,
) -> results.ExchangeList | GatewayExchange:
    """List the latest requests of agents to their model that went through `amgs gateway`, newest first: how many tokens
    the agent sent, how many went on, how many the provider read from its cache, whether the system prompt or the tools
    changed since the request before, and what was said.

    With a NUMBER, show it in full: every message that the model was sent, what was left out and why, the beginning of
    its system prompt and the names of its tools (whole with `--format json`), what the provider's cache could serve of
    it, and what the model said. It is put together from the conversation and held against a digest of what was sent;
    where the two differ, that is said instead.

    The memory keeps the last 200 (`memory.conversation.exchanges` in the settings); no gateway need run.
    """
    if number is not None:
        return engine.memory.gateway.exchange(number)
    return results.ExchangeList(engine.memory.gateway.exchanges(limit), engine.gateway)
