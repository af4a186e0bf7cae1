"""Who is told what happens to a runtime; `trace.TraceWriter` is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from amgs_focus.records import (
    BranchView,
    Keyframe,
    Measurement,
    NodeRef,
    Override,
    Refocus,
    Segment,
    StepRecord,
)
from amgs_focus.tree.span_metadata import Act


class TraceSink(Protocol):
    """Told everything that happens, in order. state_hash: the state after it."""

    def ingested(self, segments: Sequence[Segment], state_hash: str) -> None: ...

    def asked(self, question: str, state_hash: str) -> None: ...

    def refocused(self, refocus: Refocus) -> None: ...

    def stepped(self, record: StepRecord) -> None: ...

    def stepped_back(self, steps: int, state_hash: str) -> None: ...

    def overridden(self, node: NodeRef, word: Override | None) -> None: ...

    def configured(self, key: str, value: str, state_hash: str) -> None: ...

    def measured(self, measurement: Measurement) -> None: ...

    def branched(self, branch: BranchView, chosen: bool, state_hash: str) -> None:
        """chosen: by the operator, at that step; else because something was done in the past."""

    def keyframed(self, keyframe: Keyframe) -> None: ...

    def switched(self, name: str, state_hash: str) -> None: ...

    def acted(self, act: Act, state_hash: str) -> None: ...
