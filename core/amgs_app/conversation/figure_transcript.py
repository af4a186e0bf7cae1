"""Messages in full: speaker, time, and every line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from amgs.types.conversation import Message
from amgs.types.mentions import ResolvedMention
from amgs_app.render.canvas import Canvas, Piece, clean, in_ascii, ink
from amgs_app.render.format import minute, share
from amgs_app.render.glyphs import wrap
from amgs_app.terminal.printable import printable

MOST_LINES: Final = 4000
"""Lines after which a page ends; a message that has begun continues for at most as many again."""


def meanings(mentions: Sequence[ResolvedMention], number: int) -> list[str]:
    """Return what words of a message refer to, with confidence, each once: `tomorrow = 2026-03-02 .90`."""
    phrases: dict[str, None] = {}
    for mention in mentions:
        if mention.number == number:
            means = ", ".join(mention.means)
            same = means.casefold() == mention.text.casefold()
            meant = f"{mention.text}: {mention.type.replace('_', ' ')}" if same else f"{mention.text} = {means}"
            phrases[clean(f"{meant} {share(mention.confidence)}")] = None
    return list(phrases)


def transcript(
    title: str, messages: Sequence[Message], canvas: Canvas, mentions: Sequence[ResolvedMention] = ()
) -> Text:
    """Return the messages in full, as wide as the canvas. mentions: what words refer to, shown below their message."""
    palette = canvas.palette
    quiet = ink(palette.muted)
    lines: list[Piece] = [(title, ink(palette.text, bold=True))]
    for place, message in enumerate(messages):
        if len(lines) > MOST_LINES:
            rest = f"#{message.number}-{messages[-1].number}" if messages[place:-1] else f"#{message.number}"
            lines += [("", None), (f"… {rest}: read it by its handle", quiet)]
            break
        lines += [("", None), (_head(message), ink(palette.accent, bold=True))]
        text_lines = _break_lines(message.text, canvas.width - 2) if message.text else []
        if not text_lines and not message.calls:
            lines.append(("  says nothing", quiet))
        lines += [(line, ink(palette.text)) for line in text_lines[:MOST_LINES]]
        if len(text_lines) > MOST_LINES:
            lines.append((f"  … {len(text_lines) - MOST_LINES:,} more lines", quiet))
        for call in message.calls:
            called = _break_lines(f"{call.name}({call.arguments})", canvas.width - 2)
            lines += [(line, ink(palette.warn)) for line in called[:MOST_LINES]]
        meant = "; ".join(meanings(mentions, message.number))
        lines += [
            (line, ink(palette.part_similarity))
            for line in (_break_lines(f"▸ {meant}", canvas.width - 2) if meant else [])
        ]
    converter = in_ascii if canvas.symbols == "ascii" else str
    return Text.assemble(*((f"{converter(line)}\n", style or "") for line, style in lines))


def _head(message: Message) -> str:
    parts = [f"#{message.number} {clean(message.speaker or message.role)}"]
    if message.at is not None:
        parts.append(minute(message.at))
    if message.answers:
        parts.append(f"result of {clean(message.answers)}")
    return "  ".join(parts)


def _break_lines(text: str, width: int) -> list[str]:
    """Wrap a text, keeping its line breaks and indentation."""
    lines = []
    for line in printable(text.expandtabs(4)).split("\n"):
        body = line.lstrip(" ")
        indent = " " * min(len(line) - len(body), max(0, width // 2))
        lines += [f"  {indent}{part}" for part in wrap(body, max(8, width - len(indent)), MOST_LINES + 1)]
    return lines
