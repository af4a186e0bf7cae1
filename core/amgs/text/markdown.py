"""Markdown as notes use it.

Front matter, a title, links, the turns of a dialogue, and splitting at natural places.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

Value = str | list[str]

_FENCE = re.compile(r"^---[ \t]*$")
_KEY = re.compile(r"^([A-Za-z][\w-]*)\s*:\s*(.*)$")
_HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$")
_LINK = re.compile(r"\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_TURN = re.compile(r"^\*\*([^*\n:]{1,60}):\*\*[ \t]*|^\*\*([^*\n:]{1,60})\*\*:[ \t]*")
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")


@dataclass(frozen=True, slots=True)
class Turn:
    """One utterance of a dialogue; speaker is empty for what stands before the first one."""

    speaker: str
    text: str


def front_matter(text: str) -> tuple[Mapping[str, Value], str]:
    """The `key: value` lines between two `---` at the top, and the body after them.

    Values are strings, or lists from `[a, b]` or from `- a` lines. A front matter that never closes is body.
    """
    lines = text.split("\n")
    if not _FENCE.match(lines[0]):
        return {}, text
    end = next((i for i, line in enumerate(lines[1:400], 1) if _FENCE.match(line)), None)
    if end is None:
        return {}, text
    found: dict[str, Value] = {}
    key = ""
    for line in lines[1:end]:
        match = _KEY.match(line)
        if match:
            key = match[1].lower()
            found[key] = _value(match[2])
        elif line.lstrip().startswith("- ") and key:
            so_far = found[key]
            item = _bare(line.lstrip()[2:])
            found[key] = [*so_far, item] if isinstance(so_far, list) else [item]
    return found, "\n".join(lines[end + 1 :])


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


def turns(body: str) -> tuple[Turn, ...]:
    """The turns of a dialogue: paragraphs that begin with `**Name:**`.

    Other paragraphs continue the turn before.
    """
    found: list[Turn] = []
    for paragraph in re.split(r"\n\s*\n", without_title(body)):
        text = paragraph.strip()
        match = _TURN.match(text)
        if match:
            found.append(Turn((match[1] or match[2]).strip(), text[match.end() :].strip()))
        elif text and found:
            found[-1] = Turn(found[-1].speaker, f"{found[-1].text}\n\n{text}")
        elif text:
            found.append(Turn("", text))
    return tuple(t for t in found if t.text)


def split(body: str, limit: int) -> tuple[str, ...]:
    """Parts of at most `limit` characters, cut at headings and paragraphs, else at lines, sentences, words.

    The parts hold all of the body's text but the white space between them; short ones are joined.
    """
    if len(body) <= limit:
        return (body,)
    pieces: list[tuple[str, str]] = []  # (what joins it to the piece before, text)
    for paragraph in re.split(r"\n[^\S\n]*\n", body):
        if paragraph.strip():
            pieces += [
                ("\n\n" if i == 0 else joint, t) for i, (joint, t) in enumerate(_small(paragraph, limit))
            ]
    parts: list[str] = []
    for joint, text in pieces:
        room = parts and len(parts[-1]) + len(joint) + len(text) <= limit
        starts_section = _HEADING.match(text.split("\n", 1)[0]) and parts and len(parts[-1]) >= limit // 2
        if room and not starts_section:
            parts[-1] += joint + text
        else:
            parts.append(text)
    return tuple(p.strip() for p in parts if p.strip())


def _small(text: str, limit: int) -> list[tuple[str, str]]:
    """A paragraph as pieces of at most `limit` characters, each with what joins it to the one before."""
    if len(text) <= limit:
        return [("", text)]
    for joint, pattern in (("\n", re.compile(r"\n")), (" ", _SENTENCE_END), (" ", re.compile(r"\s+"))):
        parts = [p for p in pattern.split(text) if p]
        if len(parts) > 1:
            gathered = _gather(parts, joint, limit)
            return [
                (joint if i == 0 else inner, piece)
                for part in gathered
                for i, (inner, piece) in enumerate(_small(part, limit))
            ]
    return [("", text[i : i + limit]) for i in range(0, len(text), limit)]


def _gather(parts: list[str], joint: str, limit: int) -> list[str]:
    """Neighbouring parts joined as long as they fit."""
    gathered: list[list[str]] = []
    size = limit
    for part in parts:
        if gathered and size + len(joint) + len(part) <= limit:
            gathered[-1].append(part)
            size += len(joint) + len(part)
        else:
            gathered.append([part])
            size = len(part)
    return [joint.join(group) for group in gathered]


def _value(text: str) -> Value:
    text = text.strip()
    if text.startswith("[") and text.endswith("]") and not text.startswith("[["):
        return [item for item in map(_bare, text[1:-1].split(",")) if item]
    return _bare(text)


def _bare(text: str) -> str:
    text = text.strip()
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text
