"""The search index outside the process."""

from __future__ import annotations

from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs_app.render.catalogue import entry
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from amgs.types import IndexBuild, IndexStatus


def _built(result: IndexBuild) -> str:
    if not result.changed:
        return f"The index is up to date: {plural(result.rows, 'block')}"
    return f"Wrote {result.changed:,} of {plural(result.rows, 'block')} in {result.seconds:.1f} s"


@entry(sentence=_built)
def index_build(result: IndexBuild) -> ResultTable:
    row = (result.version, result.built_at, result.rows, result.changed, f"{result.seconds:.1f}")
    return sheet("Index", "version:n built_at:n rows:n changed:n seconds:n", [row], (result.place,))


def _stands(result: IndexStatus) -> str:
    if not result.version:
        return f"The index is not built: {plural(result.lag, 'block')} stand beside it"
    return f"{result.lag:,} of {plural(result.rows, 'block')} changed since the index was built"


@entry(sentence=_stands)
def index_status(result: IndexStatus) -> ResultTable:
    size = f"{result.size / 1e6:,.1f}"
    row = (result.version, result.built_at, result.store_at, result.lag, result.rows, size)
    columns = "version:n built_at:n store_at:n lag:n rows:n MB:n"
    return sheet(_stands(result), columns, [row], (result.place,))
