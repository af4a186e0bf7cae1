"""Save and load lenses, found by the base model that they were trained on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, astuple
from pathlib import Path

import torch

from amgs_focus.errors import CheckpointError
from amgs_focus.lens.features import NAMES
from amgs_focus.lens.lensnet import LensNet, LensNetScorer, LensShape
from amgs_focus.lens.scoring import FocusScorer, SpreadFloors, TailSimilarity
from amgs_focus.model import checkpoint_file
from amgs_focus.model.base_model import BaseModel

FORMAT = "amgs-lensnet-1"
FLOORS = "floors"
NAMED = ("attention", "search")
"""What the setting may name; all else is a path."""
_OTHERWISE = "Restore the file, or set focus.lens to search."
_ANOTHER = "Choose a checkpoint for this model, train one, or set focus.lens to search."


def save_net(
    path: Path, net: LensNet, *, model: BaseModel, gist: str, training: Mapping[str, str] | None = None
) -> None:
    """Save a net, in half precision."""
    weights = {
        f"net.{name}": value.detach().to("cpu", torch.float16).contiguous() for name, value in net.state_dict().items()
    }
    weights[FLOORS] = torch.tensor(astuple(SpreadFloors()), dtype=torch.float64)
    shape = json.dumps({**asdict(net.shape), "features": list(net.shape.features)})
    checkpoint_file.write(path, weights, {**(training or {}), "format": FORMAT, "gist": gist, "shape": shape}, model)


def load_checkpoint(path: Path, model: BaseModel) -> LensNetScorer:
    """Read what `save_net` wrote, for this model. The version is the CRC-32 of the weights and the floors.

    Raises CheckpointError when the file is missing, damaged, was trained on another model, or for features that
    this version does not compute.
    """
    checkpoint = checkpoint_file.read(path, "lens checkpoint", _OTHERWISE)
    try:
        shape_fields = json.loads(checkpoint.metadata["shape"])
        shape = LensShape(**{**shape_fields, "features": tuple(shape_fields["features"])})
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path.name} is not a lens checkpoint.", way_out=_OTHERWISE) from error
    if shape.features != NAMES:
        raise CheckpointError(f"{path.name} uses other features than this version computes.", way_out="Train it again.")
    checkpoint.require_base(model, _ANOTHER, shape.width)
    net = LensNet(shape)
    try:
        net.load_state_dict(
            {n.removeprefix("net."): v.float() for n, v in checkpoint.weights.items() if n.startswith("net.")}
        )
    except RuntimeError as error:
        raise CheckpointError(
            f"The weights in {path.name} do not fit the shape it declares.", way_out=_OTHERWISE
        ) from error
    stored = checkpoint.weights.get(FLOORS)  # a file from before they were written has the ones of always
    floors = SpreadFloors() if stored is None else SpreadFloors(*stored.tolist())
    return LensNetScorer(net, name=path.stem, version=checkpoint.version, floors=floors)


def find_scorer(model: BaseModel, lens: str = "attention", own: Path | None = None) -> FocusScorer:
    """Return the scorer that the setting `lens` names.

    `attention`: the LensNet that was trained on this model (known by the model's embeddings), else `search`. `search`:
    likeness to the question and the last tokens. Anything else: the path of a checkpoint.

    own: a folder of checkpoints, which come before those that ship. Raises CheckpointError as `load_checkpoint` does.
    """
    if lens not in NAMED:
        return load_checkpoint(Path(lens).expanduser(), model)
    trained = checkpoint_file.find(model, FORMAT, own) if lens == "attention" else None
    return load_checkpoint(trained, model) if trained else TailSimilarity()
