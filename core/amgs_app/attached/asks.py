"""What an attached client may ask of a served engine beside whole operations: the one list, for both sides.

Operations about what one person looks at run where that person sits. What they ask of the engine is named here by its
path from the engine on; the server answers nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

PACKAGES: Final = frozenset({"amgs", "amgs_app", "amgs_focus"})
"""Whose frozen values cross the wire between a client and a server of the same version."""

Lane = Literal["read", "write", "long", "model"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A method that may be called, or a value that may be read.

    right: what the token must allow. lane: where it is carried out. operation: under which name those who watch are
    told of it; "" where they are not, unless it changes the memory. value: it is read and not called. sent: whether
    what it gives crosses the wire; a runtime does not.
    """

    right: Literal["read", "write", "operate"] = "read"
    lane: Lane = "read"
    operation: str = ""
    value: bool = False
    sent: bool = True


@dataclass(frozen=True, slots=True)
class ReportHere:
    """Stands where a method takes a Progress: the server puts its own there and reports what it is told."""


ASKS: Final[Mapping[str, Ask]] = MappingProxyType(
    {
        "facts": Ask(),
        "block": Ask(),
        "memory.block": Ask(),
        "memory.change_counter": Ask(value=True),
        "memory.counts": Ask(),
        "memory.find": Ask(),
        "memory.frame_definitions": Ask(),
        "memory.kept": Ask(),
        "memory.operations": Ask(),
        "memory.reliability": Ask(),
        "memory.status": Ask(),
        "memory.why": Ask(operation="why"),
        "memory.frames.last": Ask(),
        "memory.frames.why": Ask(operation="why"),
        "memory.calibration.verdicts": Ask(),
        "memory.keep": Ask("write", "write"),
        "memory.ingest_text": Ask("write", "write", "ingest"),
        "memory.ingest_many": Ask("write", "write", "ingest"),
        "memory.lifecycle.draft_consolidation": Ask("read", "long", "consolidate plan"),
        "memory.lifecycle.edit_draft": Ask(),
        "memory.lifecycle.apply_draft": Ask("write", "write", "consolidate apply"),
        "memory.sources.plan_text": Ask(),
        "memory.sources.apply": Ask("write", "write", "source update"),
        "memory.calibration.metrics": Ask("read", "long", "metrics"),
        "memory.calibration.compare_weights": Ask("operate", "long", "frame ab"),
        "memory.calibration.tune": Ask("operate", "long", "tune"),
        "memory.define_frame": Ask("write", "write", "frame define"),
        "memory.exchange.export": Ask("operate", "long", "export"),
        "memory.exchange.load": Ask("operate", "write", "import"),
        "open_focus": Ask("operate", "model", "focus open", sent=False),
        "focus.snapshot": Ask("operate", "model"),
        "focus.branches": Ask("operate", "model"),
        "focus_trace": Ask("operate", "model"),
    }
)
"""By path."""
