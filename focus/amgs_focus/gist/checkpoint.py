"""Trained gists on disk: both nets in half precision, found by the base model that they were trained on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import torch

from amgs_focus.errors import CheckpointError
from amgs_focus.gist.gistnet import GistEncoder, GistNet, GistNetEncoder, GistShape, PointerEncoder
from amgs_focus.model import checkpoint_file
from amgs_focus.model.base_model import BaseModel
from amgs_focus.model.kept_values import value_of

FORMAT = "amgs-gistnet-1"
_OTHERWISE = "Restore the file, or continue with pointer gists."


def save_checkpoint(
    path: Path, tokens: GistNet, gists: GistNet, *, model: BaseModel, training: Mapping[str, str] | None = None
) -> None:
    """Writes both nets with their shapes and what their base model is known by, in one rename.

    training: what is to be told of the training (`training.model_card`).
    """
    weights = {
        f"{part}.{name}": value.detach().to("cpu", torch.float16).contiguous()
        for part, net in (("tokens", tokens), ("gists", gists))
        for name, value in net.state_dict().items()
    }
    shapes = {"tokens": json.dumps(asdict(tokens.shape)), "gists": json.dumps(asdict(gists.shape))}
    checkpoint_file.write(path, weights, {**(training or {}), "format": FORMAT, **shapes}, model)


def load_checkpoint(path: Path, model: BaseModel) -> GistNetEncoder:
    """Reads what `save_checkpoint` wrote, for this model. The version is the CRC-32 of the weights.

    Raises CheckpointError when the file is missing, damaged, or was trained on another model.
    """
    checkpoint = checkpoint_file.read(path, "gist checkpoint", _OTHERWISE)
    metadata = checkpoint.metadata
    try:
        if metadata["format"] != FORMAT:
            raise CheckpointError(
                f"{path.name} has the format {metadata['format']!r}, not {FORMAT!r}.",
                way_out="Use a checkpoint written by this version.",
            )
        fields = {part: json.loads(metadata[part]) for part in ("tokens", "gists")}
        if any(stored.pop("slots", 1) != 1 for stored in fields.values()):
            raise CheckpointError(
                f"{path.name} gives several gists a block, and a block has one.",
                way_out="Use a checkpoint trained for one, or continue with pointer gists.",
            )
        shapes = {part: GistShape(**stored) for part, stored in fields.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{path.name} is not a gist checkpoint.", way_out="Choose a file written by the gist training."
        ) from error
    checkpoint.require_base(
        model, "Choose a checkpoint for this model, train one, or continue with pointer gists.", shapes["tokens"].width
    )
    nets = {part: _load_net(checkpoint, shape, part) for part, shape in shapes.items()}
    return GistNetEncoder(nets["tokens"], nets["gists"], name=path.stem, version=checkpoint.version, model=model)


def find_gist_encoder(model: BaseModel, own: Path | None = None) -> GistEncoder:
    """Return the encoder that was trained for this model, known by its embeddings; pointer gists where there is none.

    own: a folder of checkpoints, which come before those that ship.
    """
    path = checkpoint_file.find(model, FORMAT, own)
    if path is None:
        return PointerEncoder()
    encoder = value_of(model, (path, path.stat().st_mtime_ns), lambda: load_checkpoint(path, model))
    assert isinstance(encoder, GistNetEncoder)
    return encoder


def _load_net(checkpoint: checkpoint_file.CheckpointFile, shape: GistShape, part: str) -> GistNet:
    net = GistNet(shape)
    own = {
        name.removeprefix(f"{part}."): value.float()
        for name, value in checkpoint.weights.items()
        if name.startswith(f"{part}.")
    }
    try:
        net.load_state_dict(own)
    except RuntimeError as error:
        raise CheckpointError(
            f"The weights in {checkpoint.path.name} do not fit the shape it declares.", way_out=_OTHERWISE
        ) from error
    return net.requires_grad_(False)
