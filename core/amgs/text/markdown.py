"""Markdown as notes use it.

A title, links, and the turns of a dialogue.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$")
_LINK = re.compile(r"\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_TURN = re.compile(r"^\*\*([^*\n:]{1,60}):\*\*[ \t]*|^\*\*([^*\n:]{1,60})\*\*:[ \t]*")


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One utterance of a dialogue; speaker is empty for what stands before the first one."""

    speaker: str
    text: str


def title(body: str) -> str:
    """The text of the first heading, empty when the body does not begin with one."""
    first = body.lstrip().split("\n", 1)[0]
    match = _HEADING.match(first)
    return match[1] if match else ""


def without_title(body: str) -> str:
    """The body without the heading that it begins with."""
    if not title(body):
        return body
    return body.lstrip().partition("\n")[2]


def links(text: str) -> tuple[str, ...]:
    """Targets of `[[target]]`, `[[target#part]]` and `[[target|label]]` as slugs, each once, in order."""
    return tuple(dict.fromkeys(slug(m[1]) for m in _LINK.finditer(text)))


def slug(name: str) -> str:
    """A name as a link target: lower case, words joined by hyphens."""
    return re.sub(r"[\s_]+", "-", name.strip().lower())


def turns(body: str) -> tuple[ChatTurn, ...]:
    """The turns of a dialogue: paragraphs that begin with `**Name:**`.

    Other paragraphs continue the turn before.
    """
    found: list[ChatTurn] = []
    for paragraph in re.split(r"\n\s*\n", without_title(body)):
        text = paragraph.strip()
        match = _TURN.match(text)
        if match:
            found.append(ChatTurn((match[1] or match[2]).strip(), text[match.end() :].strip()))
        elif text and found:
            found[-1] = ChatTurn(found[-1].speaker, f"{found[-1].text}\n\n{text}")
        elif text:
            found.append(ChatTurn("", text))
    return tuple(t for t in found if t.text)
