"""Serve this program's own language model as `/v1/chat/completions`, for agents without another, and for tests.

Decodes greedily; a request that exceeds the window is an error, as at any provider.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from fastapi import FastAPI, Request, Response
from fastapi.responses import JSONResponse, StreamingResponse

from amgs_app.gateway.formats import ChatCompletions

if TYPE_CHECKING:
    from collections.abc import Callable

    from amgs_focus.model.base_model import BaseModel


def transcript(model: BaseModel, messages: Iterable[tuple[str, str]]) -> str:
    """Return messages, (role, text), as the model's turns, ending where its answer begins.

    Messages between two answers of the assistant become a single turn of the user.
    """
    prompt, waiting = "", list[str]()
    for role, text in messages:
        if role == "assistant":
            prompt += model.turn("\n\n".join(waiting)) + text + model.reopen(ended=False)
            waiting = []
        else:
            waiting.append(text)
    return prompt + model.turn("\n\n".join(waiting))


ANSWER: Final = 256
"""Tokens of an answer if the request gives no limit."""
WINDOW: Final = 8_192
"""Tokens of a request and its answer, for a model without a limit."""


def model_app(load: Callable[[], BaseModel]) -> FastAPI:
    """Return an application that serves a model. load: returns the model; called with the first request."""
    app = FastAPI(title="Language model", docs_url=None, redoc_url=None)
    one_at_a_time = threading.Lock()

    @app.get("/v1/models")
    async def models() -> dict[str, Any]:
        model = await asyncio.to_thread(load)
        return {"object": "list", "data": [{"id": model.card.name, "object": "model", "owned_by": "amgs"}]}

    @app.post("/v1/chat/completions")
    async def completions(request: Request) -> Response:
        try:
            asked = json.loads(await request.body())
            spoken = ChatCompletions().read(asked) if isinstance(asked, dict) else None
        except ValueError:
            spoken = None
        if not spoken:
            return _build_refusal("invalid_request", "The request holds no messages.")
        model = await asyncio.to_thread(load)
        most = asked.get("max_completion_tokens", asked.get("max_tokens"))
        most = most if isinstance(most, int) and most > 0 else ANSWER
        tokens = [
            *model.sinks(),
            *model.encode(transcript(model, ((message.role, message.text) for message in spoken))),
        ]
        window = model.card.positions or WINDOW
        if len(tokens) + most > window:
            return _build_refusal(
                "context_length_exceeded",
                f"The messages have {len(tokens):,} tokens and the answer may have {most:,}; "
                f"the window holds {window:,}.",
            )
        answer = _Reply(model, tokens, most, one_at_a_time, asked.get("stream") is True)
        return await answer.respond()

    return app


@dataclass(frozen=True, slots=True)
class _Reply:
    """An answer being decoded. most: tokens. lock: one answer at a time. streams: send server-sent events."""

    model: BaseModel
    tokens: list[int]
    most: int
    lock: threading.Lock
    streams: bool

    async def respond(self) -> Response:
        if self.streams:
            return StreamingResponse(self._events(), media_type="text/event-stream")
        pieces = await asyncio.to_thread(lambda: list(self._pieces()))
        message = {"role": "assistant", "content": "".join(pieces)}
        return JSONResponse(self._build_body("chat.completion", {"message": message}, "stop", usage=len(pieces)))

    async def _events(self) -> AsyncIterator[str]:
        """Yield the answer as server-sent events."""
        pieces = self._pieces()
        begun: dict[str, Any] = {"role": "assistant", "content": ""}
        yield self._event({"delta": begun}, None)
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            yield self._event({"delta": {"content": piece}}, None)
        yield self._event({"delta": {}}, "stop")
        yield "data: [DONE]\n\n"

    def _event(self, choice: dict[str, Any], finish: str | None) -> str:
        return f"data: {json.dumps(self._build_body('chat.completion.chunk', choice, finish))}\n\n"

    def _build_body(
        self, kind: str, choice: dict[str, Any], finish: str | None, usage: int | None = None
    ) -> dict[str, Any]:
        """Return the JSON object of an answer or of a chunk."""
        body: dict[str, Any] = {
            "id": f"chatcmpl-{abs(hash(tuple(self.tokens))):x}",
            "object": kind,
            "created": int(time.time()),
            "model": self.model.card.name,
            "choices": [{"index": 0, "finish_reason": finish, **choice}],
        }
        if usage is not None:
            sent = len(self.tokens)
            body["usage"] = {"prompt_tokens": sent, "completion_tokens": usage, "total_tokens": sent + usage}
        return body

    def _pieces(self) -> Iterator[str]:
        """Decode and yield the answer's text, in whole characters."""
        import torch

        from amgs_focus.model.base_model import greedy

        with self.lock:
            rows = self.model.embed(torch.tensor(self.tokens, dtype=torch.int64))
            answer_tokens: list[int] = []
            sent_text = ""
            for token in greedy(self.model, rows, self.most):
                answer_tokens.append(token)
                text = self.model.decode(answer_tokens)
                if not text.endswith("\ufffd") and text != sent_text:
                    yield text[len(sent_text) :]
                    sent_text = text


def _build_refusal(code: str, message: str) -> JSONResponse:
    error = {"message": message, "type": "invalid_request_error", "code": code, "param": None}
    return JSONResponse({"error": error}, 400)
