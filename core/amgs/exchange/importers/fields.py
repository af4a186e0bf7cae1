"""Values of a foreign document, whatever stands in their place: texts, names, instants."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from amgs.clock import parse_instant

_MILLISECONDS = 1e11
"""Above this a number of time is in milliseconds since 1970."""
_SPOKEN = re.compile(r"\d{1,2}:\d\d [ap]m on \d{1,2} [A-Z][a-z]+, \d{4}", re.IGNORECASE)
_AS_SPOKEN = "%I:%M %p on %d %B, %Y"
"""How recorded chats of research (LoCoMo, REALTALK) write when a session began."""
_VECTORS = ("embedding", "embeddings", "vector")
"""Ends of the names of fields that hold vectors."""


@dataclass(frozen=True, slots=True)
class Unread:
    """A line of a JSON Lines file that is no JSON."""

    line: int
    reason: str


def text(value: Any) -> str | None:
    """A text; None for anything else."""
    return value if isinstance(value, str) else None


def instant(value: Any) -> datetime | None:
    """An instant written in ISO 8601 or as "1:56 pm on 8 May, 2023", or as seconds or milliseconds since 1970; None
    for anything else.
    """
    try:
        if isinstance(value, str):
            spoken = _SPOKEN.fullmatch(value.strip())
            return (
                datetime.strptime(spoken[0], _AS_SPOKEN).replace(tzinfo=UTC)
                if spoken
                else parse_instant(value)
            )
        if isinstance(value, bool) or not isinstance(value, int | float):
            return None
        return datetime.fromtimestamp(value / 1000 if abs(value) > _MILLISECONDS else value, UTC)
    except (ValueError, OverflowError, OSError):
        return None


def without_vectors(record: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """A record without its vectors, and whether there were any."""
    kept = {k: v for k, v in record.items() if not (isinstance(v, list) and k.lower().endswith(_VECTORS))}
    return kept, len(kept) < len(record)


def some(data: Any, fits: Any) -> bool:
    """Whether a list holds an object that fits, or the data is one itself."""
    given = data if isinstance(data, list) else [data]
    return any(isinstance(one, dict) and fits(one) for one in given)
