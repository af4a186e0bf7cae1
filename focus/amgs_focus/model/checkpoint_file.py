"""Trained weights on the disk: a safetensors file that says what it is, which base model it is for, and how it was
made.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from amgs_focus.errors import CheckpointError
from amgs_focus.model.base_model import BaseModel
from amgs_focus.model.embedding_fingerprint import EmbeddingFingerprint, is_same_model

SHIPPED = Path(__file__).parents[1] / "checkpoints"
_EMBEDDINGS = "embeddings"


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """A file that was read. weights: by name, in the order of the names."""

    path: Path
    metadata: Mapping[str, str]
    weights: Mapping[str, torch.Tensor]

    @property
    def version(self) -> int:
        """CRC-32 of all weights in the order of their names; never 0, which stands for no weights at all."""
        code = 0
        for value in self.weights.values():
            code = zlib.crc32(value.contiguous().view(torch.uint8).numpy().tobytes(), code)
        return code or 1

    def require_base(self, model: BaseModel, way_out: str, width: int | None = None) -> None:
        """Raises CheckpointError where it was trained on another model than this one, or for embeddings of another
        width than its own.
        """
        card = model.card
        if _is_for(model, self.metadata) and width in (None, card.width):
            return
        told = _fingerprint(self.metadata)
        width = told.width if told is not None else width
        if width not in (None, card.width):
            why = f": embeddings of width {width}; this model has {card.width}"
        elif told is None:
            why = "; it does not record the embeddings of its model, so only the name tells"
        elif told.vocabulary != card.vocabulary:
            why = f": a vocabulary of {told.vocabulary}; this model has {card.vocabulary}"
        else:
            why = ": this model has other embeddings"
        base = self.metadata.get("model") or "an unnamed model"
        raise CheckpointError(
            f"{self.path.name} was trained on {base}, not on {card.name}{why}.", way_out=way_out
        )


def write(
    path: Path,
    weights: Mapping[str, torch.Tensor],
    metadata: Mapping[str, str],
    base: BaseModel,
) -> None:
    """Writes weights in one rename, with the name and the fingerprint of the model that they are for."""
    told = {"model": base.card.name, _EMBEDDINGS: EmbeddingFingerprint.of(base).text(), **metadata}
    partial = path.with_suffix(".partial")
    save_file(dict(weights), partial, metadata=told)
    partial.replace(path)


def read(path: Path, what: str, way_out: str) -> CheckpointFile:
    """Reads a file. what: "gist checkpoint", for the error. Raises CheckpointError."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in sorted(file.keys())}
    except (OSError, SafetensorError) as error:
        raise CheckpointError(f"The {what} {path.name} cannot be read ({error}).", way_out=way_out) from error
    return CheckpointFile(path, metadata, weights)


def find(
    model: BaseModel, formats: tuple[str, ...], own: Path | None = None
) -> list[tuple[Path, dict[str, str]]]:
    """Checkpoints of one of the formats that were trained on this model, with their metadata: those in the folder
    `own`, the latest first, then those that ship. Raises CheckpointError for a file that cannot be read.
    """
    mine = sorted(own.glob("*.safetensors"), key=_latest_first) if own is not None else []
    found = []
    for path in (*mine, *sorted(SHIPPED.glob("*.safetensors"))):
        metadata = _metadata(path)
        if metadata.get("format") in formats and _is_for(model, metadata):
            found.append((path, metadata))
    return found


def _is_for(model: BaseModel, metadata: Mapping[str, str]) -> bool:
    return is_same_model(model, metadata.get("model", ""), _fingerprint(metadata))


def _fingerprint(metadata: Mapping[str, str]) -> EmbeddingFingerprint | None:
    """What the file tells of its model's embeddings; None where it was written before files told."""
    try:
        return EmbeddingFingerprint.parse(metadata[_EMBEDDINGS])
    except (KeyError, ValueError, TypeError):
        return None


def _metadata(path: Path) -> dict[str, str]:
    try:
        with safe_open(path, framework="pt") as file:
            return dict(file.metadata() or {})
    except (OSError, SafetensorError) as error:
        raise CheckpointError(
            f"The checkpoint {path} cannot be read ({error}).",
            way_out="Restore the file, or move it out of the folder.",
        ) from error


def _latest_first(path: Path) -> tuple[float, str]:
    return -path.stat().st_mtime, path.name
