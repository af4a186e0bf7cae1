"""Extract the parts of a request outside its conversation: system prompts and tool definitions without secrets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from amgs.sessions.messages import text_of
from amgs.storable import make_storable
from amgs.types.gateway import GatewayPrompt
from amgs_app.gateway.formats.spoken import Body, Spoken

_SECRETS: Final = ("authorization", "authorization_token", "headers")
"""Fields of a tool on a server of its own, by which that server lets the provider in (`mcp` in OpenAI's responses)."""
_TAKEN_OUT: Final = "(not kept)"
_BESIDE: Final = ("instructions", "system")
"""Where a system prompt stands in a request whose messages are not all there."""


def prompts_in(request: Body, spoken: Sequence[Spoken], numbers: Sequence[int]) -> tuple[GatewayPrompt, ...]:
    """Return the definitions of tools and the system prompts of a request, in that order.

    spoken: its messages. numbers: of those that its conversation holds, in order; none where it holds none.
    """
    return tuple(_tools(request)) + tuple(_system_prompts(request, spoken, numbers))


def _tools(request: Body) -> Iterator[GatewayPrompt]:
    if tools := request.get("tools") or request.get("functions"):
        bare = [_without_secrets(tool) for tool in tools] if isinstance(tools, list) else tools
        yield GatewayPrompt("tools", make_storable(json.dumps(bare, ensure_ascii=False)))


def _without_secrets(tool: Any) -> Any:
    if not isinstance(tool, dict):
        return tool
    return {name: _TAKEN_OUT if name in _SECRETS else value for name, value in tool.items()}


def _system_prompts(request: Body, spoken: Sequence[Spoken], numbers: Sequence[int]) -> Iterator[GatewayPrompt]:
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
