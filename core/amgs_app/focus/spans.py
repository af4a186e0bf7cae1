"""List the texts of a lifetime with their metadata, and change the metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.errors import UsageError
from amgs_app.results.focus import SpanDescribed, SpanList, SpanRow

if TYPE_CHECKING:
    from amgs_focus.records import SpanAbout
    from amgs_focus.runtime.runtime import FocusRuntime


def list_spans(runtime: FocusRuntime, find: str, limit: int, offset: int) -> SpanList:
    """List the texts that have `find` in their name or metadata, in order."""
    tree = runtime.tree
    numbered = [
        (number, span)
        for number, span in enumerate(tree.spans())
        if find.lower() in _words(tree.catalogue.about(span.start), span.label, span.source or "")
    ]
    shown = numbered[offset : offset + limit]
    return SpanList(tuple(_row(runtime, number) for number, _ in shown), len(numbered), tree.length)


def describe_span(runtime: FocusRuntime, span: int, key: str, value: str) -> SpanDescribed:
    """Set a field of a text's metadata. Raises UsageError for an invalid number, key or value."""
    from amgs_focus.records import SpanAbout

    tree = runtime.tree
    spans = tree.spans()
    if span >= len(spans):
        raise UsageError(f"There is no span {span}.", way_out=f"They are numbered 0 to {len(spans) - 1}.")
    if key not in ("domain", "path", "section", "language", "time", "trust", "version"):
        raise UsageError(
            f"A span has no key {key!r}.", way_out="Keys: domain, path, section, language, time, trust, version."
        )
    before = tree.catalogue.about(spans[span].start)
    try:
        after = SpanAbout.of({**before.plain(), key: value})
    except ValueError as error:
        raise UsageError(f"{key} = {value!r}: {error}.", way_out="Trust must be a number from 0 to 1.") from error
    tree.catalogue.describe({spans[span].start: after})
    return SpanDescribed(span, before, after)


def _row(runtime: FocusRuntime, number: int) -> SpanRow:
    """Return a text with its metadata and the sums over its blocks."""
    from amgs_focus.records import SpanProvenance
    from amgs_focus.runtime.view import spread_of

    tree = runtime.tree
    span = tree.spans()[number]
    first, last = span.start // tree.block_size, -(-span.end // tree.block_size)
    used = tree.catalogue.usage.table(1).rows(first, last)
    hidden = sum(
        max(0, min(span.end, run.stop * width) - max(span.start, run.first * width))
        for run in tree.catalogue.sealed.runs
        if run.level == 1
        for width in (tree.block_size,)
    )
    return SpanRow(
        number=number,
        kept=SpanProvenance(span, tree.catalogue.about(span.start), tree.length - span.end),
        tags=tree.catalogue.span_metadata.tags_on(span.start, span.end),
        opened=int(used["opened"].sum()),
        dwell=int(used["dwell"].sum()),
        forgotten=hidden / (span.end - span.start),
        spread=spread_of(tree, span.start, span.end),
    )


def _words(about: SpanAbout, *more: str) -> str:
    """Return the searchable metadata of a text, in small letters."""
    return " ".join((about.domain, about.path, about.section, about.language, *more)).lower()
