"""LensNet on disk: weights in half precision with their shape and the base model's name and vocabulary."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from amgs_focus.errors import CheckpointError
from amgs_focus.lens.baseline import TailSimilarity
from amgs_focus.lens.features import NAMES
from amgs_focus.lens.lensnet import LensNet, LensNetScorer, LensShape
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.model.embedding_match import reads
from amgs_focus.records import ModelCard

FORMAT = "amgs-lensnet-1"
SHIPPED = Path(__file__).parents[1] / "checkpoints"


def save_checkpoint(
    path: Path, net: LensNet, *, model: str, vocabulary: int, gist: str, note: str = ""
) -> None:
    """Writes the net in half precision, in one rename. gist: name and version of the gists it was trained on."""
    tensors = {
        f"net.{name}": value.detach().to("cpu", torch.float16).contiguous()
        for name, value in net.state_dict().items()
    }
    shape = asdict(net.shape)
    metadata = {
        "format": FORMAT,
        "model": model,
        "vocabulary": str(vocabulary),
        "gist": gist,
        "note": note,
        "shape": json.dumps({**shape, "features": list(net.shape.features)}),
    }
    partial = path.with_suffix(".partial")
    save_file(tensors, partial, metadata=metadata)
    partial.replace(path)


def load_checkpoint(path: Path, card: ModelCard, *, causal: bool = False) -> LensNetScorer:
    """Reads what `save_checkpoint` wrote, for this model. The version is the CRC-32 of the weights.

    Raises CheckpointError when the file is missing, damaged, made for another width or vocabulary, or for
    features that this version does not compute.
    """
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            stored = {name: file.get_tensor(name) for name in sorted(file.keys())}
    except (OSError, SafetensorError) as error:
        raise CheckpointError(
            f"The lens checkpoint {path.name} cannot be read ({error}).",
            way_out="Restore the file, or use the lens tail-similarity.",
        ) from error
    shape = _shape(path, metadata)
    if shape.width != card.width:
        raise CheckpointError(
            f"{path.name} was trained for embeddings of width {shape.width}; {card.name} has {card.width}.",
            way_out="Choose a checkpoint for this model, train one, or use the lens tail-similarity.",
        )
    if metadata.get("vocabulary") != str(card.vocabulary):
        raise CheckpointError(
            f"{path.name} knows {metadata.get('vocabulary', 'no')} tokens; {card.name} has {card.vocabulary}.",
            way_out="Choose a checkpoint for this model, train one, or use the lens tail-similarity.",
        )
    net = LensNet(shape)
    try:
        net.load_state_dict(
            {n.removeprefix("net."): v.float() for n, v in stored.items() if n.startswith("net.")}
        )
    except RuntimeError as error:
        raise CheckpointError(
            f"The weights in {path.name} do not fit the shape it declares.",
            way_out="Restore the file, or use the lens tail-similarity.",
        ) from error
    return LensNetScorer(net, name=path.stem, version=_fingerprint(stored), causal=causal)


def for_model(model: BaseModel, lens: str = "lensnet") -> FocusScorer:
    """What the setting `lens` names: the lens that ships for the model, by its name or its embeddings (the baseline
    where none does), the baseline `tail-similarity`, or a checkpoint's path.

    Raises CheckpointError as `load_checkpoint` does.
    """
    if lens == TailSimilarity.name:
        return TailSimilarity()
    if lens != "lensnet":
        return load_checkpoint(Path(lens).expanduser(), model.card)
    for path in sorted(SHIPPED.glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
        if metadata.get("format") == FORMAT and reads(model, metadata.get("model", "")):
            return load_checkpoint(path, model.card)
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


def _fingerprint(stored: Mapping[str, torch.Tensor]) -> int:
    """CRC-32 of all weights in name order; never 0, which stands for a scorer without weights."""
    code = 0
    for name in sorted(stored):
        code = zlib.crc32(stored[name].contiguous().view(torch.uint8).numpy().tobytes(), code)
    return code or 1
