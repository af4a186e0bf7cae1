"""Spans as programs send them: a memory that is asked, and a model that answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from amgs.sessions.spans import RecordedSpan, as_otlp

DAY = 86_400 * 10**9
BEGUN = 1_772_323_200 * 10**9
"""1 March 2026, in nanoseconds."""


class SpanWorld:
    """Spans in order. Each begins a second after the one before, or when it is told. first: its number, by which it is
    known.
    """

    def __init__(self, first: int = 1) -> None:
        self._first = first
        self.spans: list[RecordedSpan] = []
        self.now = BEGUN

    def add(self, operation: str, conversation: str = "", failed: bool = False, **given: Any) -> RecordedSpan:
        """given: attributes after `gen_ai.`, with `__` for a dot."""
        self.now += 10**9
        attributes = {"gen_ai.operation.name": operation}
        attributes |= {f"gen_ai.{key.replace('__', '.')}": value for key, value in given.items()}
        if conversation:
            attributes["gen_ai.conversation.id"] = conversation
        number = self._first + len(self.spans)
        made = RecordedSpan(
            f"{number:032x}",
            f"{number:016x}",
            "",
            operation,
            self.now,
            self.now + 5 * 10**6,
            attributes,
            3,
            2 if failed else 0,
            resource={"service.name": "garden"},
            scope="test",
        )
        self.spans.append(made)
        return made

    def store(self, id: str, content: str, operation: str = "create_memory", store: str = "beds") -> None:
        """A record is stored."""
        self.add(
            operation,
            memory__store__id=store,
            memory__record__id=id,
            memory__records=json.dumps([{"id": id, "content": content}] if id else [{"content": content}]),
        )

    def delete(self, id: str) -> None:
        """A record is deleted, or all of them."""
        given: dict[str, Any] = {"memory__record__id": id} if id else {}
        self.add("delete_memory", memory__store__id="beds", **given)

    def search(
        self, query: str, found: Sequence[tuple[str, str, float]], conversation: str = "", store: str = "beds"
    ) -> None:
        """A search that brings records: (id, content, score)."""
        records = [{"id": id, "content": content, "score": score} for id, content, score in found]
        self.add(
            "search_memory",
            conversation,
            memory__store__id=store,
            memory__query__text=query,
            memory__records=json.dumps(records),
        )

    def answer(self, asked: str, said: str, conversation: str = "") -> None:
        """A model answers."""
        self.add(
            "chat",
            conversation,
            request__model="m",
            input__messages=json.dumps([{"role": "user", "parts": [{"type": "text", "content": asked}]}]),
            output__messages=json.dumps([{"role": "assistant", "parts": [{"type": "text", "content": said}]}]),
        )

    @property
    def body(self) -> bytes:
        """All of them as one request of OTLP in JSON."""
        return json.dumps(as_otlp(self.spans)).encode()
