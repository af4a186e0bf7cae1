"""What of Markdown a reader never sees: tags and addresses in a heading, comments, link definitions."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})(.*)$")
_COMMENT = re.compile(r"^[ \t]*<!--.*?-->[ \t]*$", re.DOTALL | re.MULTILINE)
_DEFINITION = re.compile(r"^ {0,3}\[(?!\^)(?:[^\[\]\n\\]|\\.)+\]:[ \t]*\S+.*$", re.MULTILINE)

_IMAGE = re.compile(r"!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?")
_LINK = re.compile(r"\[([^\[\]]*)\](?:\([^)]*\)|\[[^\]]*\])")
_TAG = re.compile(r"</?[A-Za-z][^<>]*>|<!--.*?-->")


def plain(title: str) -> str:
    """A heading as it is read: without tags, pictures, addresses and the signs of code."""
    if not any(sign in title for sign in "<[!`"):
        return title
    bare = _TAG.sub(" ", _LINK.sub(r"\1", _IMAGE.sub(" ", title))).replace("`", "")
    return " ".join(bare.split()) if any(c.isalnum() for c in bare) else ""


def without_plumbing(text: str) -> str:
    """Markdown without comments and link definitions that have lines of their own; code is left as it is."""
    if "<!--" not in text and "]:" not in text:
        return text
    parts = [part if code else _DEFINITION.sub("", _COMMENT.sub("", part)) for part, code in fenced(text)]
    return "\n".join(parts)


def fenced(text: str) -> tuple[tuple[str, bool], ...]:
    """The text in parts, whole lines each: what stands in a closed code fence (True), and what does not."""
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
    """(first, last) line of each fence that is closed; one that never is, is none."""
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
