"""Linear lenses on disk, found by the base model that they were trained on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path

import torch

from amgs_focus.errors import CheckpointError
from amgs_focus.lens.linear import NAMES, LinearLens
from amgs_focus.lens.scoring import FocusScorer, SpreadFloors, TailSimilarity
from amgs_focus.model import checkpoint_file
from amgs_focus.model.base_model import BaseModel
from amgs_focus.model.checkpoint_file import CheckpointFile

FORMAT = "amgs-linear-lens-1"
NETWORK = "amgs-lensnet-1"
FLOORS = "floors"
NAMED = ("linear", "search")
"""What the setting may name; all else is a path."""
_OTHERWISE = "Restore the file, or set focus.lens to search."
_ANOTHER = "Choose a checkpoint for this model, train one, or set focus.lens to search."


def save_linear(
    path: Path,
    weights: Mapping[str, float],
    *,
    model: BaseModel,
    gist: str,
    floors: SpreadFloors | None = None,
    made: Mapping[str, str] | None = None,
) -> None:
    """Writes a weight for each feature and the floors of its scores, in one rename.

    gist: name and version of the gists it was trained on. made: what is to be told of the training
    (`training.model_card`).
    """
    tensors = {
        "weights": torch.tensor(list(weights.values()), dtype=torch.float64),
        FLOORS: stored_floors(floors or SpreadFloors()),
    }
    told = {**(made or {}), "format": FORMAT, "gist": gist, "features": json.dumps(list(weights))}
    checkpoint_file.write(path, tensors, told, model)


def load_checkpoint(path: Path, model: BaseModel, *, causal: bool = False) -> LinearLens:
    """Reads what `save_linear` wrote, for this model. The version is the CRC-32 of the weights and the floors.

    Raises CheckpointError when the file is missing, damaged, was trained on another model, or for features that
    this version does not compute.
    """
    return linear_of(checkpoint_file.read(path, "lens checkpoint", _OTHERWISE), model, causal=causal)


def linear_of(found: CheckpointFile, model: BaseModel, *, causal: bool = False) -> LinearLens:
    """The linear lens in a file; raises CheckpointError as `load_checkpoint` does."""
    path = found.path
    if found.metadata.get("format") == NETWORK:
        raise CheckpointError(
            f"{path.name} is a LensNet, which this version does not run.",
            way_out="Train a linear lens, or set focus.lens to search.",
        )
    found.require_base(model, _ANOTHER)
    try:
        names = [str(name) for name in json.loads(found.metadata["features"])]
        weights = dict(zip(names, found.weights["weights"].tolist(), strict=True))
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path.name} is not a lens checkpoint.", way_out=_OTHERWISE) from error
    if set(names) - set(NAMES):
        raise CheckpointError(
            f"{path.name} uses other features than this version computes.", way_out="Train it again."
        )
    return LinearLens(weights, floors_of(found), name=path.stem, version=found.version, causal=causal)


def stored_floors(floors: SpreadFloors) -> torch.Tensor:
    """(2,): among the weights, so that the version tells them apart."""
    return torch.tensor(astuple(floors), dtype=torch.float64)


def floors_of(found: CheckpointFile) -> SpreadFloors:
    """Those of the file; the ones of always for a file from before they were written."""
    stored = found.weights.get(FLOORS)
    return SpreadFloors() if stored is None else SpreadFloors(*stored.tolist())


def for_model(model: BaseModel, lens: str = "linear", own: Path | None = None) -> FocusScorer:
    """What the setting `lens` names: `linear`, the lens that was trained for the model, known by its embeddings, and
    `search` where none was; `search`, likeness to the question and the last tokens; or a checkpoint's path.

    own: a folder of checkpoints, which come before those that ship. Raises CheckpointError as `load_checkpoint` does.
    """
    if lens not in NAMED:
        return load_checkpoint(Path(lens).expanduser(), model)
    trained = checkpoint_file.find(model, (FORMAT,), own) if lens == "linear" else []
    return load_checkpoint(trained[0][0], model) if trained else TailSimilarity()
