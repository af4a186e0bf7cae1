"""Trained lenses on disk, found by the base model that they were trained on: LensNet, or a linear lens."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, astuple
from pathlib import Path

import torch

from amgs_focus.errors import CheckpointError
from amgs_focus.lens.baseline import TailSimilarity
from amgs_focus.lens.features import NAMES
from amgs_focus.lens.lensnet import LensNet, LensNetScorer, LensShape
from amgs_focus.lens.linear import LinearLens
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.lens.worth import SpreadFloors
from amgs_focus.model import checkpoint_file
from amgs_focus.model.base_model import BaseModel
from amgs_focus.model.checkpoint_file import CheckpointFile

FORMAT = "amgs-lensnet-1"
LINEAR = "amgs-linear-lens-1"
_FLOORS = "floors"
_OTHERWISE = "Restore the file, or use the lens tail-similarity."
_ANOTHER = "Choose a checkpoint for this model, train one, or use the lens tail-similarity."


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
    weights[_FLOORS] = _stored(SpreadFloors())
    shape = json.dumps({**asdict(net.shape), "features": list(net.shape.features)})
    checkpoint_file.write(
        path, weights, {**(made or {}), "format": FORMAT, "gist": gist, "shape": shape}, model
    )


def save_linear(
    path: Path,
    weights: Mapping[str, float],
    *,
    model: BaseModel,
    gist: str,
    floors: SpreadFloors | None = None,
    made: Mapping[str, str] | None = None,
) -> None:
    """Writes a linear lens: a weight for each feature and the floors of its scores. Otherwise as `save_checkpoint`."""
    tensors = {
        "weights": torch.tensor(list(weights.values()), dtype=torch.float64),
        _FLOORS: _stored(floors or SpreadFloors()),
    }
    told = {**(made or {}), "format": LINEAR, "gist": gist, "features": json.dumps(list(weights))}
    checkpoint_file.write(path, tensors, told, model)


def load_checkpoint(path: Path, model: BaseModel, *, causal: bool = False) -> LensNetScorer | LinearLens:
    """Reads what `save_checkpoint` or `save_linear` wrote, for this model. The version is the CRC-32 of the weights
    and the floors.

    Raises CheckpointError when the file is missing, damaged, was trained on another model, or for features that
    this version does not compute.
    """
    found = checkpoint_file.read(path, "lens checkpoint", _OTHERWISE)
    if found.metadata.get("format") == LINEAR:
        return _linear(found, model, causal)
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
    floors = _floors(found)
    return LensNetScorer(net, name=path.stem, version=found.version, floors=floors, causal=causal)


def _linear(found: CheckpointFile, model: BaseModel, causal: bool) -> LinearLens:
    path = found.path
    found.require_base(model, _ANOTHER)
    try:
        names = [str(name) for name in json.loads(found.metadata["features"])]
        weights = dict(zip(names, found.weights["weights"].tolist(), strict=True))
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path.name} is not a lens checkpoint.", way_out=_OTHERWISE) from error
    if set(names) - set(NAMES):
        raise _other_features(path)
    return LinearLens(weights, _floors(found), name=path.stem, version=found.version, causal=causal)


def _stored(floors: SpreadFloors) -> torch.Tensor:
    """(2,): among the weights, so that the version tells them apart."""
    return torch.tensor(astuple(floors), dtype=torch.float64)


def _floors(found: CheckpointFile) -> SpreadFloors:
    """Those of the file; the ones of always for a file from before they were written."""
    stored = found.weights.get(_FLOORS)
    return SpreadFloors() if stored is None else SpreadFloors(*stored.tolist())


def _other_features(path: Path) -> CheckpointError:
    return CheckpointError(
        f"{path.name} uses other features than this version computes.", way_out="Train it again."
    )


def for_model(model: BaseModel, lens: str = "lensnet", own: Path | None = None) -> FocusScorer:
    """What the setting `lens` names: the lens that was trained for the model, known by its embeddings (the baseline
    where none was), the baseline `tail-similarity`, or a checkpoint's path.

    own: a folder of checkpoints, which come before those that ship. Raises CheckpointError as `load_checkpoint` does.
    """
    if lens == TailSimilarity.name:
        return TailSimilarity()
    if lens != "lensnet":
        return load_checkpoint(Path(lens).expanduser(), model)
    for path, _ in checkpoint_file.find(model, (FORMAT, LINEAR), own):
        return load_checkpoint(path, model)
    return TailSimilarity()


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
        raise _other_features(path)
    return shape
