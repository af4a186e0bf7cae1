"""A text cut into pieces at natural places, each with the heading that it stands under."""

from __future__ import annotations

import re
from dataclasses import dataclass

from amgs.text import outline
from amgs.text.outline import Form

_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+")
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text. heading: the one it begins with, else the nearest before it; empty before the first."""

    text: str
    heading: str


@dataclass(frozen=True, slots=True)
class _Part:
    """What is not cut any further. joint: what joins it to the part before. code: within a fence."""

    joint: str
    text: str
    code: bool = False


def split(body: str, limit: int, form: Form = "markdown") -> tuple[str, ...]:
    """The texts of the pieces."""
    return tuple(piece.text for piece in pieces(body, limit, form))


def pieces(body: str, limit: int, form: Form = "markdown") -> tuple[TextPart, ...]:
    """Pieces of at most `limit` characters, cut at headings and paragraphs, else at lines, sentences, words.

    They hold all of the body's text but the white space between them; short ones are joined. A code fence is cut only
    where it does not fit a piece, and nothing in it is a heading.
    """
    if len(body) <= limit:
        found = outline.headings(body, form)
        first = found[0].title if found and not body[: found[0].start].strip() else ""
        return (TextPart(body, first),)
    made: list[tuple[str, str]] = []  # (text, heading)
    current = ""
    for part in _parts(body, limit, form):
        inside = () if part.code else outline.headings(part.text, form)
        begins = bool(inside) and inside[0].cuts and not part.text[: inside[0].start].strip()
        fits = bool(made) and len(made[-1][0]) + len(part.joint) + len(part.text) <= limit
        if fits and not (begins and len(made[-1][0]) >= limit // 2):
            made[-1] = (made[-1][0] + part.joint + part.text, made[-1][1])
        else:
            titled = bool(inside) and not part.text[: inside[0].start].strip()
            made.append((part.text, inside[0].title if titled else current))
        if inside:
            current = inside[-1].title
    return tuple(TextPart(text.strip(), heading) for text, heading in made if text.strip())


def _parts(body: str, limit: int, form: Form) -> list[_Part]:
    """Paragraphs, with the fences in them whole where they fit; longer fences are cut at their blank lines."""
    found: list[_Part] = []
    for paragraph in _paragraphs(body, form):
        if len(paragraph) <= limit or form != "markdown" or not outline.has_fence(paragraph):
            found += _cut("\n\n", paragraph, limit)
            continue
        joint = "\n\n"
        for text, code in outline.fenced(paragraph):
            if not code or len(text) <= limit:
                found += _cut(joint, text, limit, code=code)
            else:
                for n, part in enumerate(_blank_parts(text)):
                    found += _cut(joint if n == 0 else "\n\n", part, limit, code=True)
            joint = "\n"
    return found


def _cut(joint: str, text: str, limit: int, *, code: bool = False) -> list[_Part]:
    return [_Part(joint if i == 0 else inner, t, code) for i, (inner, t) in enumerate(_small(text, limit))]


def _paragraphs(body: str, form: Form) -> list[str]:
    """What blank lines part, but for those inside a fence."""
    parts = _blank_parts(body)
    if form != "markdown" or not outline.has_fence(body):
        return parts
    joined: list[str] = []
    at = 0
    closed = outline.fence_ends(parts)
    while at < len(parts):
        end = closed.get(at, at)
        joined.append("\n\n".join(parts[at : end + 1]))
        at = end + 1
    return joined


def _blank_parts(text: str) -> list[str]:
    return [part for part in _BLANK_LINE.split(text) if part.strip()]


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
