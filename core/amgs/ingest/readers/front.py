"""Front matter, which every form of plain text may begin with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from amgs.ingest.decoding import decoded, unified
from amgs.text import front_matter


@dataclass(frozen=True, slots=True)
class BodyText:
    """A text behind its front matter. first_line: the line of the file at which it begins. title: what front says."""

    body: str
    front: Mapping[str, Any]
    first_line: int
    warnings: tuple[str, ...]

    @property
    def title(self) -> str:
        title = self.front.get("title")
        return " ".join(title.split()) if isinstance(title, str) else ""


def opened(given: bytes | str) -> BodyText:
    """A file's bytes, or a text, without its front matter. Raises UnfitError for what is no text."""
    text, guess = decoded(given) if isinstance(given, bytes) else (unified(given), "")
    matter, body = front_matter.read(text)
    warnings = [guess] if guess else []
    warnings += [f"its front matter has a line that is not `key: value`: {line}" for line in matter.unread]
    first = text.count("\n") - body.count("\n") + 1
    return BodyText(body, matter.values, first, tuple(warnings))
