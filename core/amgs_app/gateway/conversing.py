"""The memory behind the gateway: which conversation a request belongs to, what of it is sent, and what is kept of it.

No system prompt is part of a conversation: it comes with every request, often with the time of day in it, and always
goes on whole. It is kept with the request.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from amgs.conversation.material import OVERHEAD, MessageCounter
from amgs.errors import AmgsError, ImpossibleBudgetError
from amgs.types.conversation import ROLES, ContextMessage, Message, OptimisedContext, Role
from amgs_app.gateway.formats.spoken import Body, Format, MessageChange, Spoken
from amgs_app.gateway.prompts import prompts_in

if TYPE_CHECKING:
    from amgs.memory import Memory
    from amgs.settings import IngestSettings
    from amgs.types.conversation import ContextConfiguration
    from amgs.types.gateway import GatewayExchange
    from amgs_app.engine import Engine


_PLANS: Final = 1_000
_ANSWER: Final = ("max_completion_tokens", "max_tokens", "max_output_tokens")
"""By which a request says how long its answer may be, in the three interfaces."""
_NOTHING: Final = "it holds no message that can be read"


@dataclass(frozen=True, slots=True)
class Fitted:
    """A request as it goes on. body: None where it goes on as it came; untouched: why. added: messages taken in.

    spoken: its messages. conversation: the one that it goes on with, "" where the memory could not tell; numbers: of
    the messages there, system prompts and what says nothing left out; whole: those messages as the agent sent them.
    beside: tokens of system prompts and definitions of tools; reserved: those of the budget that are kept free for the
    answer. request: as the agent sent it; None where it is no JSON object.
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
        """Number of its last message."""
        return self.numbers[-1] if self.numbers else 0


class Conversing:
    """Keeps the conversations that go through the gateway. Safe to use from any thread; one request at a time.

    budget: tokens of what is sent and of the answer that the agent asks for, system prompt and definitions of tools
    included; 0 to send everything. configuration: how it is chosen what is sent.
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

    def take_in(self, form: Format, request: Body, named: str = "") -> Fitted:
        """Keep what is new in a request. named: the conversation, if the agent says.

        Raises AmgsError for messages that are no conversation; the request then goes on as it came.
        """
        spoken = form.read(request)
        if spoken is None:
            return Fitted(None, _NOTHING)
        spoken = self._secrets.mask(spoken)  # of what is kept; what goes on is the request as it came
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
            whole = tuple(_whole(message, number) for message, number in zip(messages, numbers, strict=True))
            return Fitted(None, observed, name, tuple(spoken), added=len(new), numbers=numbers, whole=whole)

    def answered(self, fitted: Fitted, replies: Sequence[Spoken]) -> tuple[int, int]:
        """Take in what the model said; gives how many messages, and the number of the last one that holds it. Nothing
        where the conversation has gone on since, or had before: it was answered already.
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
        """Log which blocks an answer used of those that the model had in front of it: notes that a system prompt or a
        tool of this turn quotes, and earlier messages. What calls a tool is no answer yet.
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

    def note(self, exchange: GatewayExchange, fitted: Fitted) -> None:
        """Keep what a request came to, with its system prompts and definitions of tools unless the settings say not
        to.
        """
        prompts = None
        if fitted.request is not None and self._engine.settings.gateway.keep_prompts:
            prompts = prompts_in(fitted.request, fitted.spoken, fitted.numbers)
        self._memory.gateway.note(replace(exchange, prompts=prompts))

    def last_number(self) -> int:
        """Return the number of the latest request that is kept."""
        return next((exchange.number for exchange in self._memory.gateway.exchanges(1)), 0)

    def choose(self, form: Format, request: Body, fitted: Fitted) -> Fitted:
        """Choose what of a request that was taken in is sent; writes nothing. Raises ImpossibleBudgetError."""
        by_number = dict(zip(fitted.numbers, _select_messages(fitted.spoken), strict=True))
        beside, reserved = self._beside(request, fitted), self._reserve_tokens(request)
        if beside + reserved >= self._budget:
            free = f", {reserved:,} more are kept free for the answer" if reserved else ""
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
            # What cannot be given back is not taken away.
            keep=[f"#{number}" for number, message in by_number.items() if message.more],
        )
        if len(self._plans) >= _PLANS:
            self._plans.clear()
        self._plans[fitted.conversation] = context.plan
        places = {id(message): place for place, message in enumerate(fitted.spoken)}
        changes, notes = changes_of(context.messages, {n: places[id(message)] for n, message in by_number.items()})
        for place, message in enumerate(fitted.spoken):
            # What says nothing, as a thought of the model, goes with what stands behind it.
            after = next((p for p in range(place, len(fitted.spoken)) if fitted.spoken[p].says), None)
            if not message.says and after in changes and changes[after].text is None:
                changes[place] = MessageChange(None)
        body = form.write(request, changes, notes) if changes or notes else None
        why = "" if body is not None else "everything fits into the budget"
        # An answer that the agent sends back otherwise than it was said goes on as the agent sent it.
        sent = {message.numbers: message for message in fitted.whole}
        messages = tuple(
            replace(sent[message.numbers], tokens=message.tokens) if message.fate == "kept" else message
            for message in context.messages
        )
        context = replace(context, messages=messages)
        return replace(fitted, body=body, untouched=why, context=context, beside=beside, reserved=reserved)

    def _beside(self, request: Body, fitted: Fitted) -> int:
        """Return tokens of what is sent beside the conversation, and of the line with which the answer begins."""
        counter = MessageCounter(self._engine.count_tokens)
        prompts = [counter.cost(_message(message)) for message in fitted.spoken if message.role == "system"]
        tools = request.get("tools")
        tool_tokens = counter.count(json.dumps(tools, ensure_ascii=False)) if tools else 0
        return sum(prompts) + tool_tokens + OVERHEAD

    def _reserve_tokens(self, request: Body) -> int:
        """Return tokens that the answer may have, at most half of the budget: some agents always ask for the most there
        is.
        """
        asked = (request.get(name) for name in _ANSWER)
        most = next((n for n in asked if isinstance(n, int) and not isinstance(n, bool) and n > 0), 0)
        return min(most, self._budget // 2)

    def _plan(self, conversation: str) -> str:
        """Return the plan of the last context sent, also before the gateway began: what the provider has cached stays
        valid.
        """
        if conversation not in self._plans:
            self._plans[conversation] = self._memory.gateway.last_plan(conversation)
        return self._plans[conversation]

    def _conversation(self, messages: Sequence[Spoken], named: str) -> tuple[str, tuple[int, ...]]:
        """Return the name of the conversation that these messages go on with, and the numbers of those it has
        already.
        """
        first = next((message.text for message in messages if message.role == "user"), messages[0].text)
        stem = named or f"chat-{hashlib.sha256(first.encode('utf-8', 'replace')).hexdigest()[:8]}"
        known = [summary.name for summary in self._memory.conversation.list() if _is_of(stem, summary.name)]
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
    """Return what becomes of a request's messages, and the notes that stand before some of them.

    places: of the messages in the request, by their number in the conversation.
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


def _is_of(stem: str, name: str) -> bool:
    """Return whether a conversation has this name, or this name and a number."""
    rest = name.removeprefix(stem)
    return name.startswith(stem) and (not rest or (rest[0] == "-" and rest[1:].isdecimal()))


def _select_messages(spoken: Sequence[Spoken]) -> list[Spoken]:
    """Return what a conversation keeps of a request's messages."""
    return [message for message in spoken if message.role != "system" and message.says]


def _whole(spoken: Spoken, number: int) -> ContextMessage:
    """Return a message as the agent sent it."""
    message = _message(spoken)
    return ContextMessage((number, number), message.role, message.text, "kept", 0, "", message.calls, message.answers)


def _message(spoken: Spoken) -> Message:
    role: Role = "user"
    for known in ROLES:
        role = known if known == spoken.role else role
    return Message(0, role, spoken.text, calls=spoken.calls, answers=spoken.answers)


def align_messages(history: Sequence[Message], sent: Sequence[Spoken]) -> tuple[int, ...]:
    """For each of a request's messages the number of the kept one, as far as they are kept; none where the request is
    of another conversation.

    What users and tools said has to be equal but for white space. What the assistant said may differ: agents send back
    its answers shortened, mended or without the thoughts.
    """
    numbers: list[int] = []
    for message, other in zip(history, sent, strict=False):
        same = message.role == other.role and (other.role == "assistant" or message.text.split() == other.text.split())
        if not same:
            return ()
        numbers.append(message.number)
    return tuple(numbers)
