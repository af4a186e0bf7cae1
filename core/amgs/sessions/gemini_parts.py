"""Contents in the format of Gemini's API, as Gemini CLI and its descendants write them."""

from __future__ import annotations

from typing import Any

from amgs.sessions.lines import Record, as_json, content_text


def gemini_parts(content: Any) -> list[Record]:
    """Return the parts of a content, which may be a text, a part or a list of both."""
    every = content if isinstance(content, list) else [content]
    return [{"text": part} if isinstance(part, str) else part for part in every if isinstance(part, (str, dict))]


def response_text(response: Record) -> str:
    """Return a tool's output in a `functionResponse`."""
    content = next((response[key] for key in ("error", "output", "content") if key in response), None)
    return content_text(content) or (as_json(response) if response else "")
