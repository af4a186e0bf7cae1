"""Measuring: `bench NAME`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amgs_tui.verbs.registry import verb

if TYPE_CHECKING:
    from amgs.model import Progress
    from amgs_tui.benches.frame import BenchResult
    from amgs_tui.session import Session

AsJson = Annotated[bool, typer.Option("--json", help="One JSON object, as with --format json.")]


@verb("bench locomo", summary="Measure retrieval on conversations in LoCoMo's format.", long=True)
def bench_locomo(
    session: Session,
    *,
    data: Annotated[
        Path | None, typer.Option("--data", metavar="DIR", help="The folder of conversations.")
    ] = None,
    as_json: AsJson = False,
    progress: Progress,
) -> BenchResult:
    """Protocol turn-R: a store for each conversation, a block for each turn, the question as the query.

    Gives recall, nDCG and MRR by category, the reference methods beside them, what each layer is worth,
    latency, and how well a question without an answer is told. Leaves the session's own store alone.
    """
    from amgs.errors import UsageError
    from amgs_tui.benches import locomo
    from amgs_tui.models import text_models

    del as_json  # read by whoever writes the result
    if data is None:
        raise UsageError(
            "The bench needs conversations, and none were given.",
            way_out="Give their folder: `bench locomo --data DIR`.",
        )
    embedder, _, _ = text_models(session.model_spec, session.settings.model, lambda: None)
    return locomo.run(data, embedder, progress=progress)
