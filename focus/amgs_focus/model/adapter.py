"""A small LoRA adapter on a frozen base model, which can be attached, disabled for a while, saved and loaded.

MegaContext, "Phase B3". The base model's own weights never change; without the adapter it answers exactly as before.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from amgs_focus.errors import CheckpointError, ModelMismatchError
from amgs_focus.model import checkpoint_file
from amgs_focus.model.base_model import BaseModel
from amgs_focus.model.pretrained import PretrainedModel

FORMAT = "amgs-lora-1"
_NAME = "focus"


@dataclass(frozen=True, slots=True)
class AdapterShape:
    """Shape of an adapter's weights.

    targets: names of the layers that it is added to; empty for the query and value projections that peft knows for the
    architecture.
    """

    rank: int = 8
    alpha: int = 16
    targets: tuple[str, ...] = ()


class Adapter:
    """An adapter attached to a model. It trains in float32 whatever the base model computes in."""

    def __init__(self, model: PretrainedModel, shape: AdapterShape, seed: int = 0) -> None:
        """Attach a fresh adapter, which changes nothing until it is trained.

        Raises ModelMismatchError when the model has no layers of these names or has an adapter already.
        """
        from peft import LoraConfig, inject_adapter_in_model

        if model.card.adapter:
            raise ModelMismatchError(
                f"{model.card.name} has the adapter {model.card.adapter} already.", way_out="Reload the model."
            )
        settings = LoraConfig(
            r=shape.rank, lora_alpha=shape.alpha, target_modules=list(shape.targets) or None, task_type="CAUSAL_LM"
        )
        try:
            with torch.random.fork_rng():
                torch.manual_seed(seed)
                inject_adapter_in_model(settings, model.module, adapter_name=_NAME)
        except ValueError as error:
            raise ModelMismatchError(
                f"No adapter fits {model.card.name}: {str(error).splitlines()[0]}",
                way_out="Name the layers it is to be added to (lora.targets).",
            ) from error
        self.shape = shape
        self._model = model
        for parameter in self.parameters():
            parameter.data = parameter.data.float()
        self.name = ""
        self.rename("lora")

    def parameters(self) -> list[nn.Parameter]:
        """Return the adapter's own weights, in the order of the layers."""
        return [value for name, value in self._model.module.named_parameters() if f".{_NAME}." in name]

    def weights(self) -> dict[str, torch.Tensor]:
        """Return copies of the weights by layer, named as in peft."""
        from peft import get_peft_model_state_dict

        state: dict[str, Any] = get_peft_model_state_dict(self._model.module, adapter_name=_NAME)
        return {name: value.detach().cpu().float().contiguous() for name, value in sorted(state.items())}

    def load_weights(self, weights: dict[str, torch.Tensor]) -> None:
        """Load weights that `weights` returned. Raises CheckpointError when they do not fit."""
        from peft import set_peft_model_state_dict

        own = self.weights()
        if {name: value.shape for name, value in own.items()} != {n: v.shape for n, v in weights.items()}:
            raise CheckpointError(
                "The adapter's weights do not fit the layers of this model.",
                way_out="Use an adapter that was trained on this model.",
            )
        set_peft_model_state_dict(self._model.module, weights, adapter_name=_NAME)
        self.rename(self.name)

    @property
    def version(self) -> int:
        """CRC-32 of the weights in the order of their names."""
        code = 0
        for value in self.weights().values():
            code = zlib.crc32(value.numpy().tobytes(), code)
        return code

    def rename(self, name: str) -> None:
        """Record in the model's card the adapter's name and the version of its present weights."""
        self.name = name
        self._model.carries(f"{name}@{self.version:08x}")

    @contextmanager
    def disable(self) -> Iterator[None]:
        """Run a block with the base model alone."""
        self._switch(False)
        try:
            yield
        finally:
            self._switch(True)

    def save(self, path: Path, training: Mapping[str, str] | None = None) -> None:
        """Write the adapter and its base model's fingerprint, in a single rename. training: metadata about the
        training.
        """
        self.rename(path.stem)
        metadata = {**(training or {}), "format": FORMAT, "shape": json.dumps(asdict(self.shape))}
        checkpoint_file.write(path, self.weights(), metadata, self._model)

    def _switch(self, on: bool) -> None:
        from peft.tuners.tuners_utils import BaseTunerLayer

        for layer in self._model.module.modules():
            if isinstance(layer, BaseTunerLayer) and isinstance(layer, nn.Module):
                trained = [parameter for parameter in layer.parameters() if parameter.requires_grad]
                layer.enable_adapters(on)
                for parameter in trained:  # the library freezes what it disables
                    parameter.requires_grad_(True)


def attach(model: BaseModel, shape: AdapterShape, seed: int = 0) -> Adapter:
    """Return a fresh adapter on a model. Raises ModelMismatchError for a model that cannot take an adapter."""
    if not isinstance(model, PretrainedModel):
        raise ModelMismatchError(
            f"{model.card.name} does not support adapters.", way_out="Choose a model that transformers can load."
        )
    return Adapter(model, shape, seed)


def load_adapter(model: BaseModel, path: Path) -> Adapter:
    """Return a saved adapter on its model, frozen.

    Raises CheckpointError for a file that is not an adapter or belongs to another model.
    """
    checkpoint = read_adapter(path)
    checkpoint.require_base(model, "Use that model, or continue without the adapter.")
    adapter = attach(model, _shape(checkpoint.metadata))
    adapter.load_weights(dict(checkpoint.weights))
    adapter.rename(path.stem)
    for parameter in adapter.parameters():
        parameter.requires_grad_(False)
    return adapter


def read_adapter(path: Path) -> checkpoint_file.CheckpointFile:
    """Return the metadata and weights in a file that `Adapter.save` wrote. Raises CheckpointError for other files."""
    checkpoint = checkpoint_file.read(path, "adapter", "Restore the file, or continue without it.")
    try:
        _shape(checkpoint.metadata)
        if checkpoint.metadata["format"] != FORMAT or not checkpoint.metadata["model"]:
            raise KeyError("format")
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{path.name} is not an adapter.", way_out="Choose a file that holds a trained adapter."
        ) from error
    return checkpoint


def _shape(metadata: Mapping[str, str]) -> AdapterShape:
    shape = json.loads(metadata["shape"])
    return AdapterShape(shape["rank"], shape["alpha"], tuple(shape["targets"]))
