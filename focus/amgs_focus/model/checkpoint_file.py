"""Trained weights on disk: a safetensors file that records its format, its base model and how it was trained.

A folder, a hub id and a packaged file may hold the same model under three names and in two precisions. A model is
recognised by its embeddings: the signs of values spread over the matrix agree in all but the few that rounding changes,
while two independently trained models agree in half of them. A model and its fine-tuned versions count as the same.
"""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Self

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from amgs_focus.errors import CheckpointError
from amgs_focus.model.base_model import BaseModel

KNOWN = Path(__file__).parents[1] / "checkpoints" / "embeddings.json"
"""Fingerprints by model name, for files of earlier versions that hold none."""
ROWS, COLUMNS = 64, 64
LEAST_AGREEMENT = 0.9


@dataclass(frozen=True, slots=True)
class EmbeddingFingerprint:
    """Fingerprint of a model's embedding matrix.

    vocabulary, width: its rows and columns. signs: of at most 64 × 64 values spread evenly over it, packed, in base64
    (684 letters).
    """

    vocabulary: int
    width: int
    signs: str

    def __post_init__(self) -> None:
        base64.b64decode(self.signs, validate=True)  # raises ValueError

    @classmethod
    def of(cls, model: BaseModel) -> Self:
        """Return the fingerprint of a model."""
        import torch

        card = model.card
        rows = torch.linspace(0, card.vocabulary - 1, ROWS).long()
        columns = torch.linspace(0, card.width - 1, min(COLUMNS, card.width)).long()
        values = model.embed(rows).detach().to("cpu", torch.float32)[:, columns]
        packed = np.packbits(values.numpy() > 0)
        return cls(card.vocabulary, card.width, base64.b64encode(packed.tobytes()).decode())

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the fingerprint that `text` wrote. Raises ValueError, TypeError or KeyError for anything else."""
        fields = json.loads(text)
        return cls(int(fields["vocabulary"]), int(fields["width"]), str(fields["signs"]))

    def text(self) -> str:
        return json.dumps(asdict(self))

    def agrees(self, other: EmbeddingFingerprint) -> bool:
        """Return whether both are of the same embedding matrix, up to rounding."""
        if (self.vocabulary, self.width) != (other.vocabulary, other.width):
            return False
        ours, theirs = (np.frombuffer(base64.b64decode(fingerprint.signs), np.uint8) for fingerprint in (self, other))
        if ours.shape != theirs.shape:
            return False
        return int(np.bitwise_count(ours ^ theirs).sum()) <= (1 - LEAST_AGREEMENT) * 8 * len(ours)


def is_same_model(model: BaseModel, name: str, fingerprint: EmbeddingFingerprint | None, known: Path = KNOWN) -> bool:
    """Return whether a file for the model `name`, with this fingerprint, is for `model`.

    Names are compared, without their owners, only where neither the file nor `known` has a fingerprint for `name`.
    """
    fingerprint = fingerprint or _read_fingerprints(known).get(_bare(name))
    if fingerprint is not None:
        return fingerprint.agrees(EmbeddingFingerprint.of(model))
    return bool(name) and _bare(name) == _bare(model.card.name)


def _bare(name: str) -> str:
    """Return a model's name without its owner, in lower case."""
    return name.rpartition("/")[2].casefold()


@cache
def _read_fingerprints(path: Path) -> dict[str, EmbeddingFingerprint]:
    fingerprints = json.loads(path.read_text(encoding="utf-8"))
    return {_bare(name): EmbeddingFingerprint(**fields) for name, fields in fingerprints.items()}


SHIPPED = Path(__file__).parents[1] / "checkpoints"
_EMBEDDINGS = "embeddings"


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """Contents of a checkpoint file. weights: by name, sorted."""

    path: Path
    metadata: Mapping[str, str]
    weights: Mapping[str, torch.Tensor]

    @property
    def version(self) -> int:
        """CRC-32 of all weights in the order of their names; never 0, which means no weights."""
        code = 0
        for value in self.weights.values():
            code = zlib.crc32(value.contiguous().view(torch.uint8).numpy().tobytes(), code)
        return code or 1

    def require_base(self, model: BaseModel, way_out: str, width: int | None = None) -> None:
        """Raise CheckpointError if the file was trained on another model, or for embeddings of another width."""
        card = model.card
        if _is_for(model, self.metadata) and width in (None, card.width):
            return
        fingerprint = _fingerprint(self.metadata)
        width = fingerprint.width if fingerprint is not None else width
        if width not in (None, card.width):
            why = f": embeddings of width {width}; this model has {card.width}"
        elif fingerprint is None:
            why = "; it does not record the embeddings of its model, so only the name tells"
        elif fingerprint.vocabulary != card.vocabulary:
            why = f": a vocabulary of {fingerprint.vocabulary}; this model has {card.vocabulary}"
        else:
            why = ": this model has other embeddings"
        base = self.metadata.get("model") or "an unnamed model"
        raise CheckpointError(f"{self.path.name} was trained on {base}, not on {card.name}{why}.", way_out=way_out)


def write(path: Path, weights: Mapping[str, torch.Tensor], metadata: Mapping[str, str], base: BaseModel) -> None:
    """Write weights in a single rename, with the name and the fingerprint of their model."""
    header = {"model": base.card.name, _EMBEDDINGS: EmbeddingFingerprint.of(base).text(), **metadata}
    partial = path.with_suffix(".partial")
    save_file(dict(weights), partial, metadata=header)
    partial.replace(path)


def read(path: Path, what: str, way_out: str) -> CheckpointFile:
    """Return the contents of a file. what: its kind for the error, as "gist checkpoint". Raises CheckpointError."""
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata() or {}
            weights = {name: file.get_tensor(name) for name in sorted(file.keys())}
    except (OSError, SafetensorError) as error:
        why = _say_fault(error)
        raise CheckpointError(f"The {what} {path.name} cannot be read ({why}).", way_out=way_out) from error
    return CheckpointFile(path, metadata, weights)


def find(model: BaseModel, kind: str, own: Path | None = None) -> Path | None:
    """Return the checkpoint of a format trained on this model: the latest in the folder `own`, else the one that ships.

    Returns None if there is none. Raises CheckpointError for a file that cannot be read.
    """
    mine = sorted(own.glob("*.safetensors"), key=_latest_first) if own is not None else []
    for path in (*mine, *sorted(SHIPPED.glob("*.safetensors"))):
        metadata = _metadata(path)
        if metadata.get("format") == kind and _is_for(model, metadata):
            return path
    return None


def _is_for(model: BaseModel, metadata: Mapping[str, str]) -> bool:
    return is_same_model(model, metadata.get("model", ""), _fingerprint(metadata))


def _fingerprint(metadata: Mapping[str, str]) -> EmbeddingFingerprint | None:
    """Return the fingerprint in a file's metadata; None if it holds no valid one."""
    try:
        return EmbeddingFingerprint.parse(metadata[_EMBEDDINGS])
    except (KeyError, ValueError, TypeError):
        return None


def _say_fault(error: Exception) -> str:
    return getattr(error, "strerror", None) or "it is not a whole safetensors file"


def _metadata(path: Path) -> dict[str, str]:
    try:
        with safe_open(path, framework="pt") as file:
            return dict(file.metadata() or {})
    except (OSError, SafetensorError) as error:
        raise CheckpointError(
            f"The checkpoint {path} cannot be read ({_say_fault(error)}).",
            way_out="Restore the file, or move it out of the folder.",
        ) from error


def _latest_first(path: Path) -> tuple[float, str]:
    return -path.stat().st_mtime, path.name
