"""Pages of HTML to be read elsewhere: `report`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from amgs_app.calls.marks import Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.pages.writing import Redact, palettes, written
from amgs_app.results.memory import PageWritten

if TYPE_CHECKING:
    from amgs_app.session.operator import Operator

_USED = 20


@operation(
    "report",
    summary="Write a page of HTML about the memory.",
    synonyms=("html", "share"),
    example="report --out report.html --redact",
)
def report(
    operator: Operator,
    *,
    out: Annotated[Path, Option("--out", metavar="FILE", help="The file to write."), Takes("file", made=True)],
    redact: Redact = False,
) -> PageWritten:
    """Write one file that any browser shows, light or dark, without a script and without loading anything: overview,
    health, the most used blocks, what drops below the threshold within 30 days; and, as charts with their figures in a
    table, categories, calibration, decay, and what filled the last frame's budget.

    It holds titles of blocks; --redact leaves out every text of the memory, its name, and the charts that name
    categories or frames.
    """
    from amgs_app.pages.memory_report import of_memory

    used = operator.engine.memory.lifecycle.most_used(_USED)
    text = of_memory(operator, operator.look_at, used, palettes(), redacted=redact)
    return written(out, operator.engine.settings.memory.ingest.mask(text), redact=redact)
