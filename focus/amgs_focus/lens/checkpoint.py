"""LensNet on disk: weights in half precision with their shape, found by the base model that they were trained on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import torch

from amgs_focus.errors import CheckpointError
from amgs_focus.lens.baseline import TailSimilarity
from amgs_focus.lens.features import NAMES
from amgs_focus.lens.lensnet import LensNet, LensNetScorer, LensShape
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model import checkpoint_file
from amgs_focus.model.base_model import BaseModel

FORMAT = "amgs-lensnet-1"
_OTHERWISE = "Restore the file, or use the lens tail-similarity."


def save_checkpoint(
    path: Path, net: LensNet, *, model: BaseModel, gist: str, made: Mapping[str, str] | None = None
) -> None:
    """Writes the net in half precision, in one rename.

    gist: name and version of the gists it was trained on. made: what is to be told of the training
    (`training.provenance`).
    """
    weights = {
        f"net.{name}": value.detach().to("cpu", torch.float16).contiguous()
        for name, value in net.state_dict().items()
    }
    shape = json.dumps({**asdict(net.shape), "features": list(net.shape.features)})
    checkpoint_file.write(
        path, weights, {**(made or {}), "format": FORMAT, "gist": gist, "shape": shape}, model
    )


def load_checkpoint(path: Path, model: BaseModel, *, causal: bool = False) -> LensNetScorer:
    """Reads what `save_checkpoint` wrote, for this model. The version is the CRC-32 of the weights.

    Raises CheckpointError when the file is missing, damaged, was trained on another model, or for features that
    this version does not compute.
    """
    found = checkpoint_file.read(path, "lens checkpoint", _OTHERWISE)
    shape = _shape(path, found.metadata)
    found.require_base(
        model, "Choose a checkpoint for this model, train one, or use the lens tail-similarity.", shape.width
    )
    net = LensNet(shape)
    try:
        net.load_state_dict(
            {n.removeprefix("net."): v.float() for n, v in found.weights.items() if n.startswith("net.")}
        )
    except RuntimeError as error:
        raise CheckpointError(
            f"The weights in {path.name} do not fit the shape it declares.", way_out=_OTHERWISE
        ) from error
    return LensNetScorer(net, name=path.stem, version=found.version, causal=causal)


def for_model(model: BaseModel, lens: str = "lensnet", own: Path | None = None) -> FocusScorer:
    """What the setting `lens` names: the lens that was trained for the model, known by its embeddings (the baseline
    where none was), the baseline `tail-similarity`, or a checkpoint's path.

    own: a folder of checkpoints, which come before those that ship. Raises CheckpointError as `load_checkpoint` does.
    """
    if lens == TailSimilarity.name:
        return TailSimilarity()
    if lens != "lensnet":
        return load_checkpoint(Path(lens).expanduser(), model)
    for path, _ in checkpoint_file.find(model, FORMAT, own):
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
        raise CheckpointError(
            f"{path.name} uses other features than this version computes.", way_out="Train it again."
        )
    return shape
