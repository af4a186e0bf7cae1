"""The four memories of a conversation as views of one store: nothing is copied, and reading writes nothing.

What is at hand and what is open are read off the messages; sessions are what was said without a long pause, with how
much of it is consolidated; episodes are topics, those first where the talk turned most surely.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from amgs.conversation.atoms import asks
from amgs.conversation.citing import source
from amgs.conversation.handles import handle, numbers
from amgs.conversation.keeping import sessions
from amgs.conversation.material import spans_of
from amgs.conversation.tokens import MessageCounter
from amgs.storage.messages import StoredMessage
from amgs.types.conversation_memories import ConversationMemories, MemberKind, MemoryMember
from amgs.types.conversation_views import ConversationActs, ConversationTopics

_OPEN: tuple[MemberKind, ...] = ("question", "goal", "commitment")
_TOLD = 200
"""Characters of a message that are shown."""


def memories(
    conversation: str,
    stored: Sequence[StoredMessage],
    acts: ConversationActs,
    topics: ConversationTopics,
    statuses: Mapping[str, str],
    counter: MessageCounter,
    recent: int,
) -> ConversationMemories:
    """The memories of stored messages. acts: the open ones. statuses: of the blocks. recent: messages at hand."""
    messages = [one.message for one in stored]
    costs = {message.number: counter.cost(message) for message in messages}
    answered = {message.answers for message in messages if message.answers}
    calls = [(message, call) for message in messages for call in message.calls]

    def cost(first: int, last: int) -> int:
        return sum(costs.get(number, 0) for number in range(first, last + 1))

    def members() -> Iterator[MemoryMember]:
        for message in messages[-recent:]:
            here = handle(message.number, message.number)
            text = " ".join(source(message).split())[:_TOLD]
            yield MemoryMember("short-term", "message", here, text, costs[message.number])
        for kind in _OPEN:
            for act in acts.acts:
                if act.kind == kind:
                    text = f"{act.speaker}: {' '.join(act.text.split())}"
                    yield MemoryMember("working", kind, act.handle, text, counter.count(act.text))
        for message, call in calls:
            if call.id not in answered:
                text = f"{call.name} {call.arguments}"
                here = handle(message.number, message.number)
                yield MemoryMember("working", "call", here, text, counter.count(text))
        for start, end in spans_of(sessions(messages)):
            first, last = messages[start].number, messages[end - 1].number
            ids = {block for one in stored[start:end] for block in one.blocks}
            kept = sum(statuses.get(block) == "consolidated" for block in ids)
            text = f"{kept:,} of {len(ids):,} blocks consolidated"
            yield MemoryMember("long-term", "session", handle(first, last), text, cost(first, last))
        for topic in sorted(topics.topics, key=lambda one: (-one.chance, -numbers(one.handle)[0])):
            told = ", ".join(topic.terms)
            own = cost(*numbers(topic.handle))
            yield MemoryMember("episodic", "topic", topic.handle, told, own, topic.chance)

    last = messages[-1] if messages else None
    return ConversationMemories(
        conversation,
        tuple(members()),
        sum(message.role == "user" for message in messages),
        topics.topics[-1].terms if topics.topics else (),
        sum(call.id in answered for _, call in calls),
        last is not None and last.role == "assistant" and asks(last.text),
        counter.name,
        counter.estimated,
    )
