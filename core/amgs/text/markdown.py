"""Markdown as notes use it: a title, links, and the turns of a dialogue; and what of it a reader never sees: tags and
addresses in a heading, comments, link definitions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$")
_LINK = re.compile(r"\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_TURN = re.compile(r"^\*\*([^*\n:]{1,60}):\*\*[ \t]*|^\*\*([^*\n:]{1,60})\*\*:[ \t]*")


@dataclass(frozen=True, slots=True)
class ChatTurn:
    """One utterance of a dialogue; speaker is empty for what stands before the first speaker."""

    speaker: str
    text: str


def title(body: str) -> str:
    """Return the text of the heading that the body begins with; "" where it begins otherwise."""
    first = body.lstrip().split("\n", 1)[0]
    match = _HEADING.match(first)
    return match[1] if match else ""


def remove_title(body: str) -> str:
    """Return the body without the heading that it begins with."""
    if not title(body):
        return body
    return body.lstrip().partition("\n")[2]


def links(text: str) -> tuple[str, ...]:
    """Targets of `[[target]]`, `[[target#part]]` and `[[target|label]]` as slugs, each once, in order."""
    return tuple(dict.fromkeys(slug(m[1]) for m in _LINK.finditer(text)))


def slug(name: str) -> str:
    """Return a name as a link target: lower case, words joined by hyphens."""
    return re.sub(r"[\s_]+", "-", name.strip().lower())


def turns(body: str) -> tuple[ChatTurn, ...]:
    """Return the turns of a dialogue: paragraphs that begin with `**Name:**`.

    Other paragraphs continue the turn before.
    """
    chat_turns: list[ChatTurn] = []
    for paragraph in re.split(r"\n\s*\n", remove_title(body)):
        text = paragraph.strip()
        match = _TURN.match(text)
        if match:
            chat_turns.append(ChatTurn((match[1] or match[2]).strip(), text[match.end() :].strip()))
        elif text and chat_turns:
            chat_turns[-1] = ChatTurn(chat_turns[-1].speaker, f"{chat_turns[-1].text}\n\n{text}")
        elif text:
            chat_turns.append(ChatTurn("", text))
    return tuple(t for t in chat_turns if t.text)


_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_COMMENT = re.compile(r"^[ \t]*<!--.*?-->[ \t]*$", re.DOTALL | re.MULTILINE)
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)(?:[^\[\]\n\\]|\\.)+\]:[ \t]*\S+.*$", re.MULTILINE)

_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?")
_ANY_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->")


def clean_heading(title: str) -> str:
    """Return a heading as it is read: without tags, pictures, addresses and the signs of code."""
    if not any(sign in title for sign in "<[!`"):
        return title
    bare = _TAG.sub(" ", _ANY_LINK.sub(r"\1", _IMAGE.sub(" ", title))).replace("`", "")
    return " ".join(bare.split()) if any(c.isalnum() for c in bare) else ""


def remove_plumbing(text: str) -> str:
    """Markdown without comments and link definitions that have lines of their own; code is left as it is."""
    if "<!--" not in text and "]:" not in text:
        return text
    parts = [part if code else _DEFINITION.sub("", _COMMENT.sub("", part)) for part, code in split_fences(text)]
    return "\n".join(parts)


def split_fences(text: str) -> tuple[tuple[str, bool], ...]:
    """Return the text in parts, whole lines each: what stands in a closed code fence (True), and what does not."""
    if "```" not in text and "~~~" not in text:
        return ((text, False),)
    lines = text.split("\n")
    parts: list[tuple[str, bool]] = []
    last = 0
    for first, end in _fences(lines):
        if first > last:
            parts.append(("\n".join(lines[last:first]), False))
        parts.append(("\n".join(lines[first : end + 1]), True))
        last = end + 1
    if last < len(lines):
        parts.append(("\n".join(lines[last:]), False))
    return tuple(parts)


def _fences(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Yield (first, last) line of each fence; an unclosed fence is not yielded."""
    open_at, sign = -1, ""
    for i, line in enumerate(lines):
        match = _FENCE.match(line)
        if not match:
            continue
        if not sign:
            if match[1][0] == "`" and "`" in match[2]:
                continue
            open_at, sign = i, match[1]
        elif match[1][0] == sign[0] and len(match[1]) >= len(sign) and not match[2].strip():
            yield open_at, i
            sign = ""
