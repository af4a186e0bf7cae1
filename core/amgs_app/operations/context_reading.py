"""What the working context held of each block when a token of an answer was decoded, and how a block is kept open."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.errors import UsageError
from amgs.types.diagnosis import DecodedContext, FixApplied, ProposedFix, ReadSpan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from amgs_app.engine import Engine
    from amgs_focus.records import Band, Refocus
    from amgs_focus.views import FocusView


def reading_of(engine: Engine, answer: str) -> DecodedContext | None:
    """How the open working context held its blocks at the first token of an answer, at its latest step where it did not
    decode that; None where none is open.
    """
    view = engine.focus_view
    if view is None or not view.sources:
        return None
    step, bands = _at(engine, view, answer)
    spans = []
    for source in view.sources:
        length = max(source.end - source.start, 1)
        for band in bands:
            start, end = max(band.start, source.start), min(band.end, source.end)
            if source.source is not None and start < end:
                first, last = (start - source.start) / length, (end - source.start) / length
                spans.append(ReadSpan(source.source, first, last, band.level))
    return DecodedContext(step, tuple(spans))


def _at(engine: Engine, view: FocusView, answer: str) -> tuple[int, Sequence[Band]]:
    """The step at which an answer begins, and the levels that the refocus before it left."""
    wanted = answer.strip()
    place = view.text.find(wanted) if wanted else -1
    if place < 0:
        return view.step, view.bands
    text, latest = "", None
    found: Refocus | None = None
    for record in engine.focus_trace().steps:
        latest = record.refocus or latest
        text += record.text
        if len(text) > place:
            found = latest
            return record.step, view.bands if found is None else found.bands
    return view.step, view.bands


def pinned(engine: Engine, fix: ProposedFix) -> FixApplied:
    """Pin the tokens of a block in the open working context. Raises UsageError where the context does not hold it."""
    from amgs_focus.records import NodeRef

    runtime = engine.focus
    held = [one for one in runtime.snapshot().sources if one.source == fix.block]
    if not held:
        raise UsageError(
            "The working context does not hold the block.", way_out="`frame open` opens a frame."
        )
    first, last = runtime.tree.span(NodeRef(0, 0))
    size, count = last - first, 0
    for source in held:
        for index in range(source.start // size, (source.end - 1) // size + 1):
            node = NodeRef(0, index)
            if runtime.tree.exists(node):
                runtime.override(node, "pin")
                count += 1
    return FixApplied(fix, f"{count} nodes of the working context were pinned.")
