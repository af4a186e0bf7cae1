"""Two sets of notes in which some things changed and some disagree: of a bicycle cooperative and of a small surgery.

The rules were mended once after a look at what they missed in the first; the second was written afterwards and was
run once. A note: name, day of 2025, kind, title, text. Pairs are (earlier, later).
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from amgs.ingest.raw_blocks import RawBlock

Note = tuple[str, int, str, str, str]
Pairs = frozenset[tuple[str, str]]


@dataclass(frozen=True)
class Labelled:
    """Notes, and which of them changed or disagree."""

    notes: Sequence[Note]
    superseded: Pairs
    contradicted: Pairs

    def drafts(self) -> list[RawBlock]:
        """The notes as drafts, each from a file of its own."""
        start = datetime(2024, 12, 31, 9, tzinfo=UTC)
        return [
            RawBlock(f"# {title}\n\n{text}", start + timedelta(days=day), {"source": f"{name}.md", "tags": [kind]})
            for name, day, kind, title, text in self.notes
        ]


def _labelled(name: str) -> Labelled:
    held = json.loads((Path(__file__).parent / "samples" / "review_notes.json").read_text(encoding="utf-8"))[name]
    pairs = (frozenset((earlier, later) for earlier, later in held[what]) for what in ("superseded", "contradicted"))
    return Labelled([tuple(note) for note in held["notes"]], *pairs)


BICYCLES, SURGERY = _labelled("bicycles"), _labelled("surgery")
