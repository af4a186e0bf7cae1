"""Measuring the focus engine: `bench focus-NAME`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from amgs_tui.verbs.bench import AsJson
from amgs_tui.verbs.registry import verb

if TYPE_CHECKING:
    from amgs.model import Progress
    from amgs_focus.base_model import BaseModel
    from amgs_focus.gistnet import GistEncoder
    from amgs_tui.benches.frame import BenchResult
    from amgs_tui.session import Session

TextFiles = Annotated[
    list[Path] | None,
    typer.Option(
        "--text", metavar="FILE", help="A text that the gists were not trained on; may be repeated."
    ),
]
GistFile = Annotated[
    Path | None,
    typer.Option("--gist", metavar="FILE", help="A gist checkpoint; else the one that ships for the model."),
]
OutFolder = Annotated[
    Path | None,
    typer.Option("--out", metavar="DIR", help="Where the measured rows are kept; else the data folder."),
]
Quick = Annotated[bool, typer.Option("--quick", help="A short run on a fraction of the places.")]


@verb("bench focus-gist", summary="Measure what gists give back of the spans they replace.", long=True)
def bench_gist(
    session: Session,
    *,
    text: TextFiles = None,
    gist: GistFile = None,
    code: Annotated[
        bool, typer.Option("--code/--no-code", help="Also on held-out packages of the standard library.")
    ] = True,
    windows: Annotated[
        int, typer.Option("--windows", metavar="N", min=2, help="Places a condition is measured in.")
    ] = 48,
    out: OutFolder = None,
    quick: Quick = False,
    as_json: AsJson = False,
    progress: Progress,
) -> BenchResult:
    """Replace blocks by their gists and score what follows, beside full text, nothing, means, pointers and as
    many raw tokens.

    A run that was cut short goes on from the rows in the folder.
    """
    from amgs_tui.benches import focus_gist
    from amgs_tui.benches.focus_texts import held_out_code, read_texts

    del as_json  # read by whoever writes the result
    model = session.load_model(progress)
    corpora = [read_texts(model, text, "focus-gist")]
    if code:
        corpora.append(held_out_code(model))
    encoder = _encoder(model, gist)
    return focus_gist.run(
        model, encoder, corpora, _folder(session, out), windows=windows, quick=quick, progress=progress
    )


def _encoder(model: BaseModel, gist: Path | None) -> GistEncoder:
    """The checkpoint that was named, or what ships for the model; raises CheckpointError."""
    from amgs_focus.gistnet import for_model, load_checkpoint

    return for_model(model.card) if gist is None else load_checkpoint(gist, width=model.card.width)


def _folder(session: Session, out: Path | None) -> Path:
    from amgs_tui.session import data_folder

    return data_folder(session.settings.paths) / "bench" if out is None else out
