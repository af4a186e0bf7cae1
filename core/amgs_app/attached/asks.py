"""What an attached client may ask of a served engine beside whole operations: the one list, for both sides.

Operations about what one person looks at run where that person sits. What they ask of the engine is named here by its
path from the engine on; the server answers nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal

Lane = Literal["read", "write", "long", "model"]


@dataclass(frozen=True, slots=True)
class RemoteAsk:
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


ASKS: Final[Mapping[str, RemoteAsk]] = MappingProxyType(
    {
        "facts": RemoteAsk(),
        "block": RemoteAsk(),
        "memory.block": RemoteAsk(),
        "memory.change_counter": RemoteAsk(value=True),
        "memory.count": RemoteAsk(),
        "memory.counts": RemoteAsk(),
        "memory.earliest": RemoteAsk(),
        "memory.find": RemoteAsk(),
        "memory.frame_definitions": RemoteAsk(),
        "memory.kept": RemoteAsk(),
        "memory.operations": RemoteAsk(),
        "memory.reliability": RemoteAsk(),
        "memory.status": RemoteAsk(),
        "memory.why": RemoteAsk(operation="why"),
        "memory.frames.last": RemoteAsk(),
        "memory.frames.why": RemoteAsk(operation="why"),
        "memory.calibration.verdicts": RemoteAsk(),
        "memory.keep": RemoteAsk("write", "write"),
        "memory.ingest_text": RemoteAsk("write", "write", "ingest"),
        "memory.ingest_many": RemoteAsk("write", "write", "ingest"),
        "memory.lifecycle.most_used": RemoteAsk(),
        "memory.lifecycle.draft_consolidation": RemoteAsk("read", "long", "consolidate plan"),
        "memory.lifecycle.edit_draft": RemoteAsk(),
        "memory.lifecycle.apply_draft": RemoteAsk("write", "write", "consolidate apply"),
        "memory.sources.plan_text": RemoteAsk(),
        "memory.sources.apply": RemoteAsk("write", "write", "source update"),
        "memory.calibration.metrics": RemoteAsk("read", "long", "metrics"),
        "memory.calibration.tune": RemoteAsk("operate", "long", "tune"),
        "memory.define_frame": RemoteAsk("write", "write", "frame define"),
        "memory.exchange.export": RemoteAsk("operate", "long", "export"),
        "memory.exchange.load": RemoteAsk("operate", "write", "import"),
        "memory.exchange.load_foreign_documents": RemoteAsk("operate", "long", "import"),
        "memory.conversation.add": RemoteAsk("write", "write", "conversation add"),
        "open_focus": RemoteAsk("operate", "model", "focus open", sent=False),
        "focus.snapshot": RemoteAsk("operate", "model"),
        "focus.branches": RemoteAsk("operate", "model"),
        "focus_trace": RemoteAsk("operate", "model"),
    }
)
"""By path."""
