"""LensNets on disk, and linear lenses where training found that attention adds nothing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import torch

from amgs_focus.errors import CheckpointError
from amgs_focus.lens import checkpoint
from amgs_focus.lens.checkpoint import FLOORS, floors_of, stored_floors
from amgs_focus.lens.checkpoint import NETWORK as FORMAT
from amgs_focus.lens.features import NAMES
from amgs_focus.lens.linear import LinearLens
from amgs_focus.lens.scoring import FocusScorer, SpreadFloors
from amgs_focus.model import checkpoint_file
from amgs_focus.model.base_model import BaseModel
from benchmarks.focus_training.lensnet import LensNet, LensNetScorer, LensShape

_OTHERWISE = "Restore the file, or set focus.lens to search."
_ANOTHER = "Choose a checkpoint for this model, train one, or set focus.lens to search."


def save_checkpoint(
    path: Path, net: LensNet, *, model: BaseModel, gist: str, made: Mapping[str, str] | None = None
) -> None:
    """Writes the net in half precision and the floors of its scores, in one rename.

    gist: name and version of the gists it was trained on. made: what is to be told of the training
    (`training.provenance`).
    """
    weights = {
        f"net.{name}": value.detach().to("cpu", torch.float16).contiguous()
        for name, value in net.state_dict().items()
    }
    weights[FLOORS] = stored_floors(SpreadFloors())
    shape = json.dumps({**asdict(net.shape), "features": list(net.shape.features)})
    checkpoint_file.write(
        path, weights, {**(made or {}), "format": FORMAT, "gist": gist, "shape": shape}, model
    )


def load_checkpoint(path: Path, model: BaseModel, *, causal: bool = False) -> LensNetScorer | LinearLens:
    """Reads what `save_checkpoint` or `save_linear` wrote, for this model. The version is the CRC-32 of the weights
    and the floors.

    Raises CheckpointError when the file is missing, damaged, was trained on another model, or for features that
    this version does not compute.
    """
    found = checkpoint_file.read(path, "lens checkpoint", _OTHERWISE)
    if found.metadata.get("format") == checkpoint.FORMAT:
        return checkpoint.linear_of(found, model, causal=causal)
    shape = _shape(path, found.metadata)
    found.require_base(model, _ANOTHER, shape.width)
    net = LensNet(shape)
    try:
        net.load_state_dict(
            {n.removeprefix("net."): v.float() for n, v in found.weights.items() if n.startswith("net.")}
        )
    except RuntimeError as error:
        raise CheckpointError(
            f"The weights in {path.name} do not fit the shape it declares.", way_out=_OTHERWISE
        ) from error
    floors = floors_of(found)
    return LensNetScorer(net, name=path.stem, version=found.version, floors=floors, causal=causal)


def _shape(path: Path, metadata: Mapping[str, str]) -> LensShape:
    try:
        if metadata["format"] != FORMAT:
            raise CheckpointError(
                f"{path.name} has the format {metadata['format']!r}, not {FORMAT!r}.",
                way_out="Choose a file written by the lens training.",
            )
        told = json.loads(metadata["shape"])
        shape = LensShape(**{**told, "features": tuple(told["features"])})
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{path.name} is not a lens checkpoint.", way_out="Choose a file written by the lens training."
        ) from error
    if shape.features != NAMES:
        raise CheckpointError(
            f"{path.name} uses other features than this version computes.", way_out="Train it again."
        )
    return shape


def for_model(model: BaseModel, lens: str = "linear", own: Path | None = None) -> FocusScorer:
    """What `lens` names, as the engine takes it; a path may be that of a LensNet too."""
    if lens in checkpoint.NAMED:
        return checkpoint.for_model(model, lens, own)
    return load_checkpoint(Path(lens).expanduser(), model)
