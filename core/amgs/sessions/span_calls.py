"""Merge spans of the same model call, since a framework and its client may both write one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from amgs.sessions.span_messages import ANSWERS, SpanMessages, messages_of, operation_of
from amgs.sessions.spans import RecordedSpan

_APART: Final = ("execute_tool", "invoke_agent")
"""Operations inside which a model call is a new one."""


def single_calls(spans: Sequence[RecordedSpan]) -> list[RecordedSpan]:
    """Return the spans in order, with each model call once: its innermost span, with what only the others report.

    A span around several calls, such as a framework's loop, is dropped if the calls report what was said.
    """
    answers = {(span.trace, span.id): span for span in spans if operation_of(span) in ANSWERS}
    by_id = {(span.trace, span.id): span for span in spans}
    inner: dict[tuple[str, str], list[RecordedSpan]] = {}
    for span in answers.values():
        if (outer := _around(span, by_id)) is not None:
            inner.setdefault((outer.trace, outer.id), []).append(span)
    gone: set[tuple[str, str]] = set()
    for key, outer in sorted(answers.items(), key=lambda pair: -_depth(pair[1], by_id)):
        inner_spans = inner.get(key, [])
        if len(inner_spans) == 1:
            inner_key = inner_spans[0].trace, inner_spans[0].id
            while inner_key in gone:  # its own inner span reported more
                inner_key = next((inner_span.trace, inner_span.id) for inner_span in inner[inner_key])
            answers[inner_key] = _together(answers[inner_key], outer)
            gone.add(key)
        elif any(_tells(answers[inner_span.trace, inner_span.id]) for inner_span in inner_spans) or (
            inner_spans and not _tells(outer)
        ):
            gone.add(key)
        else:
            gone |= {(inner_span.trace, inner_span.id) for inner_span in inner_spans}
    left = [answers.get(key, span) for key, span in by_id.items() if key not in gone]
    return _without_twins(left)


def _around(span: RecordedSpan, by_id: Mapping[tuple[str, str], RecordedSpan]) -> RecordedSpan | None:
    """Return the nearest answer around a span; None without one, or if a tool or an agent is in between."""
    seen = {span.id}
    while (outer := by_id.get((span.trace, span.parent))) is not None and outer.id not in seen:
        operation = operation_of(outer)
        if operation in ANSWERS:
            return outer
        if operation in _APART:
            return None
        seen.add(outer.id)
        span = outer
    return None


def _depth(span: RecordedSpan, by_id: Mapping[tuple[str, str], RecordedSpan]) -> int:
    """Return the number of spans around this one, counting itself."""
    seen = {span.id}
    while (outer := by_id.get((span.trace, span.parent))) is not None and outer.id not in seen:
        seen.add(outer.id)
        span = outer
    return len(seen)


def _tells(span: RecordedSpan) -> bool:
    messages = messages_of(span)
    return bool(messages.read or messages.written)


def _together(span: RecordedSpan, other: RecordedSpan) -> RecordedSpan:
    """Return a span with what only the other span of its call reports."""
    return replace(span, attributes={**other.attributes, **span.attributes}, events=span.events or other.events)


def _without_twins(spans: Sequence[RecordedSpan]) -> list[RecordedSpan]:
    """Return the spans without duplicates that another library wrote for the same messages at the same time."""
    unique_spans: list[RecordedSpan] = []
    places: dict[str, list[int]] = {}
    for span in spans:
        messages = messages_of(span) if operation_of(span) in ANSWERS else SpanMessages((), ())
        signature = repr([(item["role"], _bare(item)) for item in (*messages.read, *messages.written)])
        twins = places.setdefault(signature, []) if messages.written else []
        place = next((n for n in twins if _same_call(unique_spans[n], span)), None)
        if place is not None:
            unique_spans[place] = _together(unique_spans[place], span)
            continue
        twins.append(len(unique_spans))
        unique_spans.append(span)
    return unique_spans


def _bare(item: Mapping[str, object]) -> str:
    from amgs.sessions.messages import text_of

    return text_of(item.get("content")).strip() + repr(item.get("tool_calls", ""))


def _same_call(span: RecordedSpan, other: RecordedSpan) -> bool:
    """Return whether two spans with the same messages are one call: by two libraries, one within the other's time."""
    within = span.start <= other.start <= span.end and other.end <= span.end
    around = other.start <= span.start <= other.end and span.end <= other.end
    return span.scope != other.scope and (within or around)
