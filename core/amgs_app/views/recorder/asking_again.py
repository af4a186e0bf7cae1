"""`bisect`: the window of an answer, the program's own model, which says how likely a sentence is after less of it, and
the one behind a server, which is asked again and says the sentence's words or not.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amgs.errors import InputError, NotFoundError
from amgs.wings.recorder.bisection import AskedModel, Score, WindowMessage
from amgs_app.models.transcript import transcript

if TYPE_CHECKING:
    from collections.abc import Iterator

    from amgs.sessions.spans import RecordedSpan
    from amgs.types.gateway import GatewayExchange
    from amgs_app.engine import Engine

WORDS: Final = 0.25
"""A sentence of which less of its words is said was not said, and of which less is lost was not lost."""
OWN: Final = "own"
_ANSWER: Final = 256
"""Tokens of an answer of a server."""


@dataclass(frozen=True, slots=True)
class AnsweredWindow:
    """What a model read and said. model: its name, "" where it is not told."""

    messages: tuple[WindowMessage, ...]
    said: str
    model: str


def of_gateway(exchange: GatewayExchange) -> AnsweredWindow:
    """The window of a request through the gateway, with its system prompts. Raises InputError where it is not kept."""
    if exchange.missing or not exchange.messages:
        why = exchange.missing or exchange.untouched or "it holds no message"
        raise InputError(
            f"What was sent with request {exchange.number} cannot be shown: {why}.", way_out="Try another."
        )
    prompts = [one for one in exchange.prompts or () if one.kind == "system prompt"]
    made: list[WindowMessage] = []
    for one in exchange.messages:
        while prompts and prompts[0].after < one.numbers[0]:
            made.append(WindowMessage("system", prompts.pop(0).text))
        made.append(WindowMessage(one.role, one.text))
    return AnsweredWindow(tuple(made), exchange.said, exchange.model)


def of_spans(spans: Sequence[RecordedSpan], conversation: str) -> AnsweredWindow:
    """The window of the last answer of a recorded conversation. Raises NotFoundError where none is told."""
    from amgs.sessions.messages import text_of
    from amgs.sessions.span_messages import ANSWERS, conversation_ids, messages_of, operation_of, words_of

    named = conversation_ids(spans)
    for span in reversed(spans):
        if named[span.trace] == conversation and operation_of(span) in ANSWERS:
            told = messages_of(span)
            if told.read:
                read = [WindowMessage(one["role"], text_of(one.get("content"))) for one in told.read]
                model = str(span.attributes.get("gen_ai.request.model", ""))
                return AnsweredWindow(tuple(read), words_of(told.written), model)
    raise NotFoundError(
        f"No span tells what a model read in {conversation!r}.",
        way_out="Give the number of a request through the gateway, or a conversation of "
        "`recorded --view conversations`.",
    )


def small_model(engine: Engine, sentence: str) -> tuple[str, Score]:
    """The name of the program's own model, and how likely it finds the sentence after messages, in nats."""
    from amgs_focus.model.likelihood import SentenceLikelihood

    model = engine.load_model()
    likelihood = SentenceLikelihood(model, sentence)

    def score(messages: Sequence[WindowMessage]) -> float:
        return likelihood.after(transcript(model, ((one.role, one.text) for one in messages)))

    return model.card.name, score


@contextmanager
def asked_model(upstream: str, answered: str, sentence: str) -> Iterator[AskedModel | None]:
    """The model at an address, None where it is `OWN`. answered: the name of the one that answered, which is asked for
    where the address names none.
    """
    if upstream == OWN:
        yield None
        return
    from amgs.diagnosis.facts import stems
    from amgs_app.models.model_server import KEY, ModelServer

    named = upstream if "#" in upstream or not answered else f"{upstream}#{answered}"
    server = ModelServer(named, os.environ.get(KEY, ""))
    wanted = stems(sentence)

    def score(messages: Sequence[WindowMessage]) -> float:
        said = server.chat([(_role(one.role), one.text) for one in messages], _ANSWER)
        return len(wanted & stems(said)) / len(wanted)

    try:
        yield AskedModel(server.name, WORDS, score)
    finally:
        server.close()


def _role(role: str) -> str:
    """A result of a tool whose call is left out would be refused."""
    return role if role in ("system", "assistant") else "user"
