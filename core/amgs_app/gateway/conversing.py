"""The memory behind the gateway: a request's conversation, which of its messages are sent, and what is stored.

System prompts are no part of a conversation, since they come with every request: they are always sent whole,
and stored with the request, without secrets.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from amgs.conversation.material import OVERHEAD, MessageCounter
from amgs.errors import AmgsError, ImpossibleBudgetError
from amgs.incoming import make_storable
from amgs.sessions.messages import text_of
from amgs.types.conversation import ROLES, ContextMessage, Message, OptimisedContext, Role
from amgs.types.gateway import GatewayPrompt
from amgs_app.gateway.formats import Body, Format, MessageChange, Spoken

if TYPE_CHECKING:
    from amgs.memory import Memory
    from amgs.settings import IngestSettings
    from amgs.types.conversation import ContextConfiguration
    from amgs.types.gateway import GatewayExchange
    from amgs_app.engine import Engine


_SECRETS: Final = ("authorization", "authorization_token", "headers")
"""Fields of a tool that hold credentials for its own server (`mcp` in OpenAI's Responses API)."""
_TAKEN_OUT: Final = "(not kept)"
_BESIDE: Final = ("instructions", "system")
"""Fields with the system prompt, for a request whose messages could not be read."""


def prompts_in(request: Body, spoken: Sequence[Spoken], numbers: Sequence[int]) -> tuple[GatewayPrompt, ...]:
    """Return the tool definitions and system prompts of a request, in that order.

    spoken: its messages. numbers: numbers of those stored in its conversation, in order.
    """
    return tuple(_tools(request)) + tuple(_system_prompts(request, spoken, numbers))


def _tools(request: Body) -> Iterator[GatewayPrompt]:
    """Yield the tool definitions as a single JSON text."""
    if tools := request.get("tools") or request.get("functions"):
        bare = [_without_secrets(tool) for tool in tools] if isinstance(tools, list) else tools
        yield GatewayPrompt("tools", make_storable(json.dumps(bare, ensure_ascii=False)))


def _without_secrets(tool: Any) -> Any:
    """Return a tool's definition with credentials replaced."""
    if not isinstance(tool, dict):
        return tool
    return {name: _TAKEN_OUT if name in _SECRETS else value for name, value in tool.items()}


def _system_prompts(request: Body, spoken: Sequence[Spoken], numbers: Sequence[int]) -> Iterator[GatewayPrompt]:
    """Yield each system prompt with the number of the message before it."""
    if not spoken:
        texts = (text_of(request.get(name)) for name in _BESIDE)
        yield from (GatewayPrompt("system prompt", make_storable(text)) for text in texts if text.strip())
    waiting = list(numbers)
    after = 0
    for message in spoken:
        if message.role != "system":
            after = waiting.pop(0) if waiting and message.says else after
        elif message.text.strip():
            yield GatewayPrompt("system prompt", make_storable(message.text), after)


_PLANS: Final = 1_000
_ANSWER: Final = ("max_completion_tokens", "max_tokens", "max_output_tokens")
"""Fields in which a request limits the length of its answer, in the three APIs."""
_NOTHING: Final = "it holds no message that can be read"


@dataclass(frozen=True, slots=True)
class Fitted:
    """A request prepared for the model.

    body: the changed request; None if it is sent as it came, and untouched: why. conversation: its name, "" if the
    memory failed. spoken: all messages. numbers: numbers of its messages in the conversation, without system prompts
    and empty ones. whole: those messages as the agent sent them. context: the chosen context. added: messages that were
    new. beside: tokens of system prompts and tool definitions. reserved: tokens of the budget reserved for the answer.
    request: as the agent sent it; None if it is not a JSON object.
    """

    body: dict[str, Any] | None
    untouched: str
    conversation: str = ""
    spoken: tuple[Spoken, ...] = ()
    context: OptimisedContext | None = None
    added: int = 0
    numbers: tuple[int, ...] = ()
    whole: tuple[ContextMessage, ...] = ()
    beside: int = 0
    reserved: int = 0
    request: Body | None = None

    @property
    def until(self) -> int:
        """Number of its last message in the conversation, 0 if there is none."""
        return self.numbers[-1] if self.numbers else 0


class Conversing:
    """Records the conversations of a namespace and chooses what is sent. Safe to use from any thread.

    budget: tokens of the request and its answer, with system prompt and tools; 0 to send everything. configuration: how
    messages are chosen.
    """

    def __init__(self, engine: Engine, budget: int, configuration: ContextConfiguration = "default") -> None:
        self._engine = engine
        self._configuration = configuration
        self._budget = budget
        self._lock = threading.Lock()
        self._plans: dict[str, str] = {}

    @property
    def _memory(self) -> Memory:
        return self._engine.memory

    @property
    def _secrets(self) -> IngestSettings:
        return self._engine.settings.memory.ingest

    @property
    def chooses(self) -> bool:
        """Return whether there is a budget to keep."""
        return self._budget > 0

    def record_request(self, form: Format, request: Body, named: str = "") -> Fitted:
        """Store the new messages of a request. named: the conversation, if the agent names it.

        Raises AmgsError for messages that cannot be stored; the request is then forwarded unchanged.
        """
        spoken = form.read(request)
        if spoken is None:
            return Fitted(None, _NOTHING)
        spoken = self._secrets.mask(spoken)  # masked in the memory only; the request itself is forwarded as it came
        with self._lock:
            messages = _select_messages(spoken)
            if not messages:
                return Fitted(None, _NOTHING, spoken=tuple(spoken))
            name, numbers = self._conversation(messages, named)
            new = messages[len(numbers) :]
            if new:
                done = self._memory.conversation.add(name, [_message(message) for message in new])
                numbers = (*numbers, *range(done.first, done.last + 1))
            observed = "the gateway only observes"
            whole = tuple(_as_sent(message, number) for message, number in zip(messages, numbers, strict=True))
            return Fitted(None, observed, name, tuple(spoken), added=len(new), numbers=numbers, whole=whole)

    def record_answer(self, fitted: Fitted, replies: Sequence[Spoken]) -> tuple[int, int]:
        """Store what the model said; return the number of messages added and the number of the last message.

        (0, 0) if the conversation has already continued differently.
        """
        messages = [_message(reply) for reply in self._secrets.mask(replies) if reply.says]
        with self._lock:
            history = self._read_history(fitted.conversation)
            if not messages or not history:
                return 0, 0
            if history[-1].number == fitted.until:
                done = self._memory.conversation.add(fitted.conversation, messages)
                return len(messages), done.last
            there = [
                (message.text, message.calls)
                for message in history
                if fitted.until < message.number <= fitted.until + len(messages)
            ]
            same = there == [(message.text, message.calls) for message in messages]
            return 0, fitted.until + len(messages) if same else 0

    def log_uses(self, fitted: Fitted, replies: Sequence[Spoken]) -> None:
        """Log which blocks an answer used: notes quoted in a system prompt or by a tool of this turn, and earlier
        messages. Replies that call a tool are not an answer yet.
        """
        if any(reply.calls for reply in replies):
            return
        asked = max((n for n, message in enumerate(fitted.spoken) if message.role == "user"), default=0)
        turn = [message.text for n, message in enumerate(fitted.spoken) if n >= asked or message.role == "system"]
        sent = fitted.whole if fitted.context is None else fitted.context.messages
        self._memory.gateway.log_uses(
            fitted.conversation,
            "\n\n".join(reply.text for reply in replies if reply.text),
            fitted.until,
            quoted="\n".join(turn),
            read=[message.numbers[0] for message in sent if message.fate == "kept"],
        )

    def record_exchange(self, exchange: GatewayExchange, fitted: Fitted) -> None:
        """Store the outcome of a request, with its system prompts and tool definitions unless the
        settings forbid it.
        """
        prompts = None
        if fitted.request is not None and self._engine.settings.gateway.keep_prompts:
            prompts = prompts_in(fitted.request, fitted.spoken, fitted.numbers)
        self._memory.gateway.note(replace(exchange, prompts=prompts))

    def last_number(self) -> int:
        """Return the number of the latest stored request, 0 for none."""
        return next((exchange.number for exchange in self._memory.gateway.exchanges(1)), 0)

    def choose(self, form: Format, request: Body, fitted: Fitted) -> Fitted:
        """Choose which messages of a recorded request are sent; writes nothing. Raises ImpossibleBudgetError if system
        prompt and tools alone exceed the budget.
        """
        by_number = dict(zip(fitted.numbers, _select_messages(fitted.spoken), strict=True))
        beside, reserved = self._beside(request, fitted), self._reserve_tokens(request)
        if beside + reserved >= self._budget:
            free = f", {reserved:,} more are reserved for the answer" if reserved else ""
            raise ImpossibleBudgetError(
                f"The system prompt and the tools alone have {beside:,} tokens of {self._budget:,}{free}.",
                way_out="Give the gateway a larger --budget.",
            )
        query = next((message.text for message in reversed(by_number.values()) if message.role == "user"), "")
        context = self._memory.conversation.optimise(
            fitted.conversation,
            query,
            budget=self._budget - beside - reserved,
            configuration=self._configuration,
            previous=self._plan(fitted.conversation),
            until=fitted.until,
            # Pictures are not stored, so a message with a picture cannot be restored and stays.
            keep=[f"#{number}" for number, message in by_number.items() if message.more],
        )
        if len(self._plans) >= _PLANS:
            self._plans.clear()
        self._plans[fitted.conversation] = context.plan
        places = {id(message): place for place, message in enumerate(fitted.spoken)}
        changes, notes = changes_of(context.messages, {n: places[id(message)] for n, message in by_number.items()})
        for place, message in enumerate(fitted.spoken):
            # A message without text, such as the model's thinking, is dropped with the next message.
            after = next((p for p in range(place, len(fitted.spoken)) if fitted.spoken[p].says), None)
            if not message.says and after in changes and changes[after].text is None:
                changes[place] = MessageChange(None)
        body = form.write(request, changes, notes) if changes or notes else None
        why = "" if body is not None else "everything fits into the budget"
        # Where the agent sends back an answer in changed form, its own form is forwarded.
        sent = {message.numbers: message for message in fitted.whole}
        messages = tuple(
            replace(sent[message.numbers], tokens=message.tokens) if message.fate == "kept" else message
            for message in context.messages
        )
        context = replace(context, messages=messages)
        return replace(fitted, body=body, untouched=why, context=context, beside=beside, reserved=reserved)

    def _beside(self, request: Body, fitted: Fitted) -> int:
        """Return the tokens of system prompts, tool definitions and the start of the answer."""
        counter = MessageCounter(self._engine.count_tokens)
        prompts = [counter.cost(_message(message)) for message in fitted.spoken if message.role == "system"]
        tools = request.get("tools")
        tool_tokens = counter.count(json.dumps(tools, ensure_ascii=False)) if tools else 0
        return sum(prompts) + tool_tokens + OVERHEAD

    def _reserve_tokens(self, request: Body) -> int:
        """Return the tokens to keep free for the answer: what the request allows, at most half the budget, since some
        agents always ask for the maximum.
        """
        asked = (request.get(name) for name in _ANSWER)
        most = next((n for n in asked if isinstance(n, int) and not isinstance(n, bool) and n > 0), 0)
        return min(most, self._budget // 2)

    def _plan(self, conversation: str) -> str:
        """Return the plan of the last context sent, read from the store after a restart, so that the provider's cache
        stays valid.
        """
        if conversation not in self._plans:
            self._plans[conversation] = self._memory.gateway.last_plan(conversation)
        return self._plans[conversation]

    def _conversation(self, messages: Sequence[Spoken], named: str) -> tuple[str, tuple[int, ...]]:
        """Return the name of the conversation that these messages continue, and the numbers of those already stored."""
        first = next((message.text for message in messages if message.role == "user"), messages[0].text)
        stem = named or f"chat-{hashlib.sha256(first.encode('utf-8', 'replace')).hexdigest()[:8]}"
        known = [summary.name for summary in self._memory.conversation.list() if _is_numbered(stem, summary.name)]
        matches = [(overlap, name) for name in known if (overlap := align_messages(self._read_history(name), messages))]
        if matches:
            numbers, name = max(matches, key=lambda match: (len(match[0]), match[1]))
            return name, numbers
        return (f"{stem}-{len(known) + 1}" if known else stem), ()

    def _read_history(self, name: str) -> tuple[Message, ...]:
        try:
            return self._memory.conversation.show(name)
        except AmgsError:
            return ()


def changes_of(
    messages: Sequence[ContextMessage], places: dict[int, int]
) -> tuple[dict[int, MessageChange], dict[int, str]]:
    """Return the change to each message of a request, and the notes to insert before messages.

    places: index of each message in the request, by its number in the conversation.
    """
    changes = {place: MessageChange(None) for place in places.values()}
    notes: dict[int, str] = {}
    waiting: list[str] = []
    for message in messages:
        first, last = (message.cited[0],) * 2 if message.cited else message.numbers
        if message.fate == "dropped" or first != last:
            waiting.append(message.text)
            continue
        place = places[first]
        if message.fate == "kept":
            del changes[place]
        else:
            changes[place] = MessageChange(message.text)
        if waiting:
            notes[place] = "\n".join(waiting)
            waiting = []
    return changes, notes


def _is_numbered(stem: str, name: str) -> bool:
    """Return whether a name is the stem, or the stem with a number."""
    rest = name.removeprefix(stem)
    return name.startswith(stem) and (not rest or (rest[0] == "-" and rest[1:].isdecimal()))


def _select_messages(spoken: Sequence[Spoken]) -> list[Spoken]:
    """Return the messages that belong to the conversation: not system prompts, not empty ones."""
    return [message for message in spoken if message.role != "system" and message.says]


def _as_sent(spoken: Spoken, number: int) -> ContextMessage:
    """Return a message as the agent sent it."""
    message = _message(spoken)
    return ContextMessage((number, number), message.role, message.text, "kept", 0, "", message.calls, message.answers)


def _message(spoken: Spoken) -> Message:
    """Convert a message of a request to a message of a conversation."""
    role: Role = "user"
    for known in ROLES:
        role = known if known == spoken.role else role
    return Message(0, role, spoken.text, calls=spoken.calls, answers=spoken.answers)


def align_messages(history: Sequence[Message], sent: Sequence[Spoken]) -> tuple[int, ...]:
    """Return the numbers of the stored messages that the request repeats; empty if it belongs to another conversation.

    Messages of users and tools must be equal up to white space. Those of the assistant may differ: agents send answers
    back shortened, repaired or without the thinking.
    """
    numbers: list[int] = []
    for message, other in zip(history, sent, strict=False):
        same = message.role == other.role and (other.role == "assistant" or message.text.split() == other.text.split())
        if not same:
            return ()
        numbers.append(message.number)
    return tuple(numbers)
