"""Draw a conversation's context: the history as a strip, its spans, the token ledger, and messages in full.

A span is a run of messages with the same fate: kept, masked (one line), digested (summarised) or dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from rich.style import Style
from rich.text import Text

from amgs.text.words import plural
from amgs.types.conversation import (
    SPAN_FATES,
    ContextComparison,
    ContextSpan,
    FateChange,
    LedgerRow,
    Message,
    OptimisedContext,
    SpanFate,
)
from amgs.types.conversation_views import ResolvedMention
from amgs_app.conversation.rows import CHANGES, SPANS
from amgs_app.render.canvas import Canvas, Figure, Piece, Region, clean, cut, in_ascii, ink, width_of
from amgs_app.render.format import count, milliseconds, minute, share
from amgs_app.render.glyphs import LEVELS, HeaderPart, facts_line, gauge_pieces, wrap
from amgs_app.render.rows import RowList
from amgs_app.terminal.output import printable
from amgs_app.terminal.themes import Palette

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
        lines += [("", None), (_message_head(message), ink(palette.accent, bold=True))]
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


def _message_head(message: Message) -> str:
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


SIGNS: Final[dict[SpanFate, str]] = {"kept": "█", "masked": "▒", "digested": "▓", "dropped": "·"}
MIXED: Final = "▚"
"""Cell of the strip whose messages have different fates."""
_WIDEST_CELL = 6
_GUTTER = 40
_WITH_GUTTER = 60
"""Width from which meanings are shown beside messages."""
_BESIDE = 140
"""Width from which ledger and originals are beside the spans."""


def fate_style(fate: SpanFate, palette: Palette) -> Style:
    """Return the colour of a fate."""
    colours = {"kept": palette.good, "masked": palette.warn, "digested": palette.accent, "dropped": palette.muted}
    return ink(colours[fate])


def figure(
    result: OptimisedContext,
    canvas: Canvas,
    cursor: int | None = None,
    rows: Sequence[ContextSpan] | None = None,
    total: int | None = None,
    originals: Sequence[Message] = (),
    answer: str | None = None,
    about: str = "",
    beside: Callable[[Region], None] | None = None,
    mentions: Sequence[ResolvedMention] = (),
) -> Figure:
    """Draw a context and what became of the rest; lines know which span they show.

    rows: the listed spans, None for all. cursor: index among them. total: number of messages, if the context is of an
    earlier moment. originals: messages of the selected span; mentions: what their words refer to. answer: the model's
    answer to this context. about: shown before the query. beside: draws something else in place of the originals.
    """
    sheet = Figure(canvas)
    spans = result.spans if rows is None else rows
    chosen = spans[cursor] if cursor is not None and 0 <= cursor < len(spans) else None
    _head(sheet, result, total)
    palette = sheet.palette
    x = sheet.put(1, 1, f"{clean(about)} ? " if about else "? ", ink(palette.accent, bold=True))
    sheet.put(x, 1, clean(result.query) or "no question", ink(palette.text), width=sheet.width - x - 1)
    y = 2 + _strip(sheet.part(1, 2, sheet.width - 2), result, chosen)
    rest = sheet.part(0, y)
    if answer is not None and rest.height >= 8:
        needed = 1 + len(wrap(answer or "nothing", max(8, rest.width - 2), 40))
        high = min(max(3, rest.height // 4), needed)
        _answer(rest.part(0, rest.height - high), answer)
        rest = rest.part(0, 0, None, rest.height - high)
    if rest.width >= _BESIDE and rest.height >= 8:
        left = rest.width * 11 // 20
        _list(rest.part(0, 0, left), SPANS.of("", spans), cursor)
        side = rest.part(left + 2, 0)
        _ledger_line(side.part(0, 0, None, 1), result.ledger)
        _beside(side.part(0, 2), chosen, originals, mentions, beside)
        return sheet
    detail = rest.height // (3 if beside is None else 2) if rest.height >= 11 else 0
    if chosen is None and beside is None:
        detail = 0
    ledger = int(rest.height >= 5)
    listed = max(0, rest.height - detail - ledger)
    if detail:
        listed = min(listed, max(5, len(spans) + 2))
    _list(rest.part(0, 0, None, listed), SPANS.of("", spans), cursor)
    _ledger_line(rest.part(0, listed, None, ledger), result.ledger)
    _beside(rest.part(0, listed + ledger), chosen, originals, mentions, beside)
    return sheet


def compare(
    result: ContextComparison,
    canvas: Canvas,
    changes: Sequence[FateChange],
    cursor: int | None = None,
    originals: Sequence[Message] = (),
) -> Figure:
    """Draw two contexts of the same conversation as strips, and the messages whose fates differ.

    changes: the listed differences. originals: messages of the selected context.
    """
    sheet = Figure(canvas)
    palette, a = sheet.palette, result.a
    chosen = changes[cursor] if cursor is not None and 0 <= cursor < len(changes) else None
    differ = plural(sum(change.last - change.first + 1 for change in result.changes), "message")
    facts = [
        HeaderPart(1, ((cut(clean(a.conversation), 40), ink(palette.accent, bold=True)),)),
        HeaderPart(0, ((f"{differ} differ", ink(palette.text)),)),
        HeaderPart(2, ((f"budget {count(a.budget)} tok", ink(palette.muted)),)),
    ]
    facts_line(sheet, 0, facts, x=1)
    x = sheet.put(1, 1, "? ", ink(palette.accent, bold=True))
    sheet.put(x, 1, clean(a.query) or "no question", ink(palette.text), width=sheet.width - x - 1)
    y = 2
    for name, context in (("A", a), ("B", result.b)):
        heading = f"{name} {context.strategy}  {count(context.tokens)} tok"
        sheet.put(1, y, heading, ink(palette.text, bold=True), width=sheet.width - 2)
        y += 1 + _strip(sheet.part(1, y + 1, sheet.width - 2, 5), context, chosen)
    rest = sheet.part(0, y)
    detail = rest.height // 3 if rest.height >= 9 and chosen is not None else 0
    _list(rest.part(0, 0, None, rest.height - detail), CHANGES.of("", changes), cursor)
    if chosen is not None:
        below = rest.part(0, rest.height - detail)
        because = f"A {chosen.before}, B {chosen.after}"
        draw_originals(below, chosen.handle, chosen.first, chosen.last, because, originals)
    return sheet


# --- the head ---------------------------------------------------------------------------------------------


def _head(sheet: Region, result: OptimisedContext, total: int | None) -> None:
    """Draw the line with name, tokens, budget and strategy."""
    palette = sheet.palette
    quiet, plain = ink(palette.muted), ink(palette.text)
    last = result.spans[-1].last if result.spans else 0
    used = result.tokens / result.budget if result.budget else 0.0
    facts = [
        HeaderPart(1, ((cut(clean(result.conversation), 40), ink(palette.accent, bold=True)),)),
        HeaderPart(
            0,
            (
                (f"{count(result.tokens)}/{count(result.budget)} tok ", plain),
                *gauge_pieces(used, 8, sheet.symbols, ink(palette.accent), ink(palette.faint)),
            ),
        ),
        HeaderPart(3, ((f"of {count(result.history)}", quiet),)),
        HeaderPart(2, ((result.strategy, plain),)),
    ]
    if total is not None and total > last:
        facts.insert(1, HeaderPart(0, ((f"◂ after #{last} of {total}", ink(palette.warn, bold=True)),)))
    if result.estimated:
        facts.append(HeaderPart(4, (("tokens estimated", ink(palette.warn)),)))
    if result.stable_prefix < 1:
        facts.append(HeaderPart(5, ((f"{result.stable_prefix:.0%} unchanged at the beginning", quiet),)))
    if result.milliseconds > 0:
        facts.append(HeaderPart(6, ((milliseconds(result.milliseconds), quiet),)))
    facts_line(sheet, 0, facts, x=1)


# --- the strip --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class StripCell:
    """Neighbouring messages in a single cell. fate: None if they differ. worth: the largest."""

    first: int
    last: int
    fate: SpanFate | None
    worth: float


def strip_cells(result: OptimisedContext, most: int) -> tuple[list[StripCell], int]:
    """Group the messages into at most `most` cells of equal size; return them and the messages per cell."""
    fates = [(n, span) for span in result.spans for n in range(span.first, span.last + 1)]
    if not fates or most < 1:
        return [], 1
    size = -(-len(fates) // most)
    cells = []
    for start in range(0, len(fates), size):
        group = fates[start : start + size]
        kinds = {span.fate for _, span in group}
        cells.append(
            StripCell(
                group[0][0],
                group[-1][0],
                kinds.pop() if len(kinds) == 1 else None,
                max(result.worths[start : start + size] or [span.worth for _, span in group]),
            )
        )
    return cells, size


def _strip(region: Region, result: OptimisedContext, chosen: ContextSpan | FateChange | None) -> int:
    """Draw the history from left to right with worths, cursor and legend; return the lines used."""
    palette = region.palette
    size = sum(span.last - span.first + 1 for span in result.spans)
    weighed = region.height >= 12 and any(span.worth > 0 for span in result.spans)
    lines_a_row = 2 + weighed
    rows = max(1, min(-(-size // max(1, region.width)), region.height // (5 * lines_a_row)))
    cells, group = strip_cells(result, region.width * rows)
    wide = max(1, min(_WIDEST_CELL, region.width // max(1, len(cells)))) if rows == 1 else 1
    a_row = max(1, region.width // wide)
    for place, cell in enumerate(cells):
        row, x = divmod(place, a_row)
        x, y = x * wide, row * lines_a_row
        sign, style = (
            (MIXED, ink(palette.text)) if cell.fate is None else (SIGNS[cell.fate], fate_style(cell.fate, palette))
        )
        here = chosen is not None and cell.first <= chosen.last and cell.last >= chosen.first
        gap = 1 if wide >= 3 else 0
        region.fill(x, y, wide - gap, sign, style)
        if weighed and cell.worth > 0:
            level = LEVELS[min(7, int(cell.worth * 8))]
            region.fill(x, y + 1, wide - gap, level, ink(palette.part_similarity))
        if here:
            region.fill(x, y + lines_a_row - 1, wide - gap, "▲", ink(palette.accent, bold=True))
    y = rows * lines_a_row
    x = 0
    for fate in SPAN_FATES:
        number = result.count(fate)
        if number or fate in ("kept", "dropped"):
            pieces = [(SIGNS[fate], fate_style(fate, palette)), (f" {number:,} {fate}", ink(palette.text))]
            if weighed and number:
                pieces.append((f" {result.worth_of(fate):.0%}", ink(palette.part_similarity)))
            x = region.pieces(x, y, pieces) + 2
    if weighed:
        x = region.put(x, y, "of the worth", ink(palette.part_similarity)) + 2
    scale = "a message each" if group == 1 else f"{MIXED} differ · {group} messages a cell"
    if width_of(scale) + x > region.width:
        scale = scale.replace(" messages", "")
    if width_of(scale) + x <= region.width:
        region.put(region.width - width_of(scale), y, scale, ink(palette.muted))
    return y + 1


# --- the spans --------------------------------------------------------------------------------------------


def _list(region: Region, listed: RowList[Any], cursor: int | None) -> None:
    """Draw the rows, and which of them are visible."""
    if region.height >= 1:
        note = listed.draw_rows(region, cursor)
        region.put(region.width - width_of(note) - 1, 0, note, ink(region.palette.muted))


def draw_list(region: Region, listed: RowList[Any]) -> None:
    """Draw a list below its title."""
    region.rule(0, clean(listed.title), strong=True)
    listed.draw_rows(region.part(0, 1))


# --- the ledger -------------------------------------------------------------------------------------------


def _ledger_line(region: Region, ledger: Sequence[LedgerRow]) -> None:
    """Draw the ledger: tokens taken and added by each stage."""
    if region.height < 1 or not any(row.taken or row.added for row in ledger):
        return
    palette = region.palette
    quiet, plain = ink(palette.muted), ink(palette.text)
    pieces = [("ledger ", quiet), (count(ledger[0].before), plain)]
    for row in ledger:
        if row.taken or row.added:
            taken = f" −{count(row.taken)}" if row.taken else ""
            added = f" +{count(row.added)}" if row.added else ""
            pieces += [(f"  {row.stage}", quiet), (taken + added, plain)]
    pieces.append((f" = {count(ledger[-1].after)}", ink(palette.text, bold=True)))
    region.pieces(1, 0, pieces, width=region.width - 2)


# --- what was said ----------------------------------------------------------------------------------------


def _beside(
    region: Region,
    chosen: ContextSpan | None,
    messages: Sequence[Message],
    mentions: Sequence[ResolvedMention],
    beside: Callable[[Region], None] | None,
) -> None:
    """Draw another result if there is one, else the messages of the selected span."""
    if beside is not None:
        beside(region)
    else:
        _originals(region, chosen, messages, mentions)


def _originals(
    region: Region, chosen: ContextSpan | None, messages: Sequence[Message], mentions: Sequence[ResolvedMention]
) -> None:
    """Draw the messages of the selected span."""
    if chosen is not None:
        explanation = f"{chosen.fate}: {chosen.because}"
        draw_originals(region, chosen.handle, chosen.first, chosen.last, explanation, messages, chosen.fate, mentions)


def draw_originals(
    region: Region,
    handle: str,
    first: int,
    last: int,
    explanation: str,
    messages: Sequence[Message],
    fate: SpanFate | None = None,
    mentions: Sequence[ResolvedMention] = (),
) -> None:
    """Draw a span's messages as far as there is room, below its fate and reason, with meanings beside them."""
    if region.height < 2:
        return
    gutter = min(_GUTTER, region.width // 3) if mentions and region.width >= _WITH_GUTTER else 0
    wide = region.width - gutter
    palette = region.palette
    size = last - first + 1
    region.rule(0, handle, plural(size, "message"), strong=True)
    reason = wrap(explanation, max(8, region.width - 4), 2)
    y = 1
    for line in reason[: 0 if region.height < 3 else 1 if region.height < 6 else 2]:
        if fate is not None:
            region.put(1, y, SIGNS[fate] if y == 1 else " ", fate_style(fate, palette))
        region.put(3, y, line, ink(palette.muted))
        y += 1
    for place, message in enumerate(messages):
        room = region.height - y
        more = size - place
        if room < 1:
            break
        if room == 1 and more > 1 and place:
            region.put(1, y, f"… {plural(more, 'more message')}", ink(palette.muted), width=region.width - 2)
            break
        who = clean(message.speaker or message.role)
        calls = " ".join(f"{call.name}({call.arguments})" for call in message.calls)
        head = f"#{message.number} {cut(who, 16)}: "
        content = clean(f"{message.text} {calls}") or "says nothing"
        most = max(1, room - (more > 1 and room > 1))
        lines = wrap(head + content, max(8, wide - 2), most)
        for below, text in enumerate(lines):
            region.put(1, y + below, text, ink(palette.text))
        region.put(1, y, head.rstrip(), ink(palette.accent))
        meant = meanings(mentions, message.number)[:most] if gutter else []
        for below, text in enumerate(meant):
            region.put(wide, y + below, text, ink(palette.part_similarity), width=gutter - 1)
        y += max(len(lines), len(meant))


def _answer(region: Region, answer: str) -> None:
    """Draw the model's answer to this context."""
    palette = region.palette
    region.rule(0, "Answered", strong=True)
    lines = wrap(answer or "nothing", max(8, region.width - 2), max(1, region.height - 1))
    for y, line in enumerate(lines, start=1):
        region.put(1, y, line, ink(palette.text if answer else palette.muted))
