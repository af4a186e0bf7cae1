"""Extract system prompts and tool definitions from a request, without secrets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from amgs.sessions.messages import text_of
from amgs.storable import make_storable
from amgs.types.gateway import GatewayPrompt
from amgs_app.gateway.formats.spoken import Body, Spoken

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
    """Yield the tool definitions as one JSON text."""
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
