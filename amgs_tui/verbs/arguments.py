"""The kinds of arguments that several verbs share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from amgs.errors import WeightsError
from amgs_tui.verbs.registry import Takes

if TYPE_CHECKING:
    from amgs.model import Weights

Reference = Annotated[
    str | None,
    typer.Argument(
        metavar="ID",
        help="A block: the start of its id, @3 of the last list, or its source path; else the selected one.",
    ),
    Takes("block"),
]
WeightsText = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="R,C,K,S,F",
        help="Recency, centrality, confidence, similarity, reinforcement: five numbers with sum 1.",
    ),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, help="At most this many.")]


def read_weights(text: str | None) -> Weights | None:
    """Five numbers parted by commas as Weights; raises WeightsError for anything else."""
    if text is None:
        return None
    from amgs.model import COMPONENTS, Weights

    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    if len(values) != len(COMPONENTS):
        raise WeightsError(
            f"{text!r} is not five numbers.",
            way_out=f"Give {', '.join(COMPONENTS)} in this order, such as .2,.2,.2,.2,.2.",
        )
    return Weights(*values)
