"""The search index outside the process: `index build`, `index status`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Option
from amgs_app.calls.operation import operation

if TYPE_CHECKING:
    from amgs.types import IndexBuild, IndexStatus, Progress
    from amgs_app.engine import Engine


@operation(
    "index build",
    summary="Build or catch up the search index.",
    synonyms=("reindex", "elasticsearch"),
    example="index build",
    long=True,
    writes=True,
)
def build(
    engine: Engine,
    *,
    anew: Annotated[bool, Option("--anew", help="Write every block, not only what changed.")] = False,
    compact: Annotated[bool, Option("--compact", help="Join the small files of earlier builds.")] = False,
    progress: Progress | None = None,
) -> IndexBuild:
    """Bring the search index that --index names to the memory's present state.

    Only what changed since the last build is written, and readers see the version before until the new one is whole; a
    build that is killed leaves it. What came since the last build is found without building.
    """
    return engine.memory.index.build(anew=anew, compact=compact, progress=progress)


@operation("index status", summary="Show how far the search index is behind.", example="index status")
def status(engine: Engine) -> IndexStatus:
    """Show where the search index lies, at which state of the memory it was built, how many blocks changed since, and
    its size.
    """
    return engine.memory.index.status()
