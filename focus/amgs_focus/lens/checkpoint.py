"""Lenses on disk, linear ones and LensNets, found by the base model that they were trained on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, astuple
from pathlib import Path

import torch

from amgs_focus.errors import CheckpointError
from amgs_focus.lens.lensnet import LensNet, LensNetScorer, LensShape
from amgs_focus.lens.linear import NAMES, LinearLens
from amgs_focus.lens.scoring import FocusScorer, SpreadFloors, TailSimilarity
from amgs_focus.model import checkpoint_file
from amgs_focus.model.base_model import BaseModel
from amgs_focus.model.checkpoint_file import CheckpointFile

FORMAT = "amgs-linear-lens-1"
NETWORK = "amgs-lensnet-1"
FLOORS = "floors"
NAMED = ("linear", "attention", "search")
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
    training: Mapping[str, str] | None = None,
) -> None:
    """Writes a weight for each feature and the floors of its scores, in one rename.

    gist: name and version of the gists it was trained on. training: what is to be told of the training
    (`training.model_card`).
    """
    tensors = {
        "weights": torch.tensor(list(weights.values()), dtype=torch.float64),
        FLOORS: encode_floors(floors or SpreadFloors()),
    }
    metadata = {**(training or {}), "format": FORMAT, "gist": gist, "features": json.dumps(list(weights))}
    checkpoint_file.write(path, tensors, metadata, model)


def save_net(
    path: Path, net: LensNet, *, model: BaseModel, gist: str, training: Mapping[str, str] | None = None
) -> None:
    """Save a net, in half precision."""
    weights = {
        f"net.{name}": value.detach().to("cpu", torch.float16).contiguous() for name, value in net.state_dict().items()
    }
    weights[FLOORS] = encode_floors(SpreadFloors())
    shape = json.dumps({**asdict(net.shape), "features": list(net.shape.features)})
    checkpoint_file.write(path, weights, {**(training or {}), "format": NETWORK, "gist": gist, "shape": shape}, model)


def load_checkpoint(path: Path, model: BaseModel) -> LinearLens | LensNetScorer:
    """Reads what `save_linear` or `save_net` wrote, for this model. The version is the CRC-32 of the weights and the
    floors.

    Raises CheckpointError when the file is missing, damaged, was trained on another model, or for features that
    this version does not compute.
    """
    checkpoint = checkpoint_file.read(path, "lens checkpoint", _OTHERWISE)
    read = _net if checkpoint.metadata.get("format") == NETWORK else _linear
    return read(checkpoint, model)


def _linear(checkpoint: CheckpointFile, model: BaseModel) -> LinearLens:
    path = checkpoint.path
    checkpoint.require_base(model, _ANOTHER)
    try:
        names = [str(name) for name in json.loads(checkpoint.metadata["features"])]
        weights = dict(zip(names, checkpoint.weights["weights"].tolist(), strict=True))
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path.name} is not a lens checkpoint.", way_out=_OTHERWISE) from error
    if set(names) - set(NAMES):
        raise _other_features(path)
    return LinearLens(weights, floors_of(checkpoint), name=path.stem, version=checkpoint.version)


def _net(checkpoint: CheckpointFile, model: BaseModel) -> LensNetScorer:
    path = checkpoint.path
    try:
        shape_fields = json.loads(checkpoint.metadata["shape"])
        shape = LensShape(**{**shape_fields, "features": tuple(shape_fields["features"])})
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path.name} is not a lens checkpoint.", way_out=_OTHERWISE) from error
    if shape.features != NAMES:
        raise _other_features(path)
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
    return LensNetScorer(net, name=path.stem, version=checkpoint.version, floors=floors_of(checkpoint))


def _other_features(path: Path) -> CheckpointError:
    return CheckpointError(f"{path.name} uses other features than this version computes.", way_out="Train it again.")


def encode_floors(floors: SpreadFloors) -> torch.Tensor:
    """Return (2,): among the weights, so that the version tells them apart."""
    return torch.tensor(astuple(floors), dtype=torch.float64)


def floors_of(checkpoint: CheckpointFile) -> SpreadFloors:
    """Return those of the file; the ones of always for a file from before they were written."""
    stored = checkpoint.weights.get(FLOORS)
    return SpreadFloors() if stored is None else SpreadFloors(*stored.tolist())


def for_model(model: BaseModel, lens: str = "linear", own: Path | None = None) -> FocusScorer:
    """Return what the setting `lens` names: `linear`, or `attention` (a LensNet), the lens of that kind that was
    trained for the model, known by its embeddings, and `search` where none was; `search`, likeness to the question and
    the last tokens; or a checkpoint's path.

    own: a folder of checkpoints, which come before those that ship. Raises CheckpointError as `load_checkpoint` does.
    """
    if lens not in NAMED:
        return load_checkpoint(Path(lens).expanduser(), model)
    kind = {"linear": FORMAT, "attention": NETWORK}.get(lens)
    trained = checkpoint_file.find(model, (kind,), own) if kind else []
    return load_checkpoint(trained[0][0], model) if trained else TailSimilarity()
