"""The frozen language model behind a small Protocol: embeddings in, hidden states and logits out.

The focus engine uses a model only through it, so that SmolLM2, a larger model and the tiny random model of the tests
are interchangeable. All tensors are on the model's device in its working precision unless stated otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import torch

from amgs_focus.records import ModelCard

Layers = list[tuple[torch.Tensor, torch.Tensor]]
"""Keys and values of each layer, (1, heads, n, e) each."""


class BaseModel(Protocol):
    """A frozen causal language model with its tokenizer. W: entries, d: embedding width, V: vocabulary."""

    @property
    def card(self) -> ModelCard: ...

    def encode(self, text: str) -> list[int]:
        """Return the token ids of a text. No special token is added; those spelled out in the text are recognised."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of tokens; incomplete characters become the replacement character."""
        ...

    def sinks(self) -> list[int]:
        """Return exactly four token ids that begin every working context."""
        ...

    def turn(self, question: str) -> str:
        """Return a question formatted as this model's user turn, up to where its answer begins."""
        ...

    def reopen(self, *, ended: bool) -> str:
        """Return the text that ends the model's turn after an answer. ended: the answer closed with a stop."""
        ...

    @property
    def rotates(self) -> bool:
        """Whether this is a `RotaryModel` that can rotate cached keys to other positions; tested on the model."""
        ...

    @property
    def stops(self) -> frozenset[int]:
        """Token ids at which an answer ends."""
        ...

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return rows (…, d) of the input embedding matrix for token ids (…,) int64."""
        ...

    def new_cache(self) -> KVCache:
        """Return an empty key-value cache."""
        ...

    def forward(self, embeddings: torch.Tensor, cache: KVCache | None = None) -> torch.Tensor:
        """Return the final hidden states (B, W, d), after the last norm, for embeddings (B, W, d).

        With a cache, the entries continue it at the next dense positions, each row of B separately, and it grows by W.
        Gradients flow to the embeddings if the caller has enabled them; the weights never change.
        """
        ...

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return float32 logits (N, V) for hidden states (N, d). Flatten first: a batched product copies the matrix."""
        ...


@runtime_checkable
class GatedModel(BaseModel, Protocol):
    """A base model that accepts a bias on its attention, and explicit positions."""

    def forward_gated(
        self, embeddings: torch.Tensor, cache: KVCache, bias: torch.Tensor, positions: torch.Tensor
    ) -> torch.Tensor:
        """Return hidden states (1, W, d) as `forward` does, after what the cache holds.

        bias (W, cached + W) is added to the attention's logits in every layer, −inf hides; it replaces the causal mask,
        so it must hide later positions. positions (W,) replace dense ones. Gradients flow to the bias.
        """
        ...


@runtime_checkable
class LayeredModel(BaseModel, Protocol):
    """A base model whose states between the layers can be read, as a GistNet with a layer needs."""

    def states(self, embeddings: torch.Tensor, layers: int) -> torch.Tensor:
        """Return (B, W, d): the residual stream after `layers` layers, 1 to all, before the last norm."""
        ...


class RotaryModel(GatedModel, Protocol):
    """A gated model with rotary positions: a cached key can be rotated to another position."""

    def layers_of(self, cache: KVCache) -> Layers:
        """Return the keys and values in a cache."""
        ...

    def cache_of(self, layers: Layers) -> KVCache:
        """Return a cache with these keys and values."""
        ...

    def rotate_keys(self, keys: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
        """Return keys (1, heads, n, e) moved `by` (n,) int64 positions each, forwards if positive."""
        ...


ODDITIES = (RuntimeError, ValueError, TypeError, AttributeError, IndexError, NotImplementedError)
"""What the code of an untested architecture may raise where it lacks what a probe needs."""


def turns_keys(model: RotaryModel, by: int = 37) -> bool:
    """Return whether `rotate_keys` gives the keys that the model itself computes `by` positions later, in every layer.

    A single token attends only to itself, so with rotary positions only its keys depend on its position.
    """
    row = model.embed(torch.tensor([model.sinks()[-1:]]))
    start_cache, moved_cache = model.new_cache(), model.new_cache()
    try:
        with torch.no_grad():
            for cache, position in ((start_cache, 0), (moved_cache, by)):
                model.forward_gated(row, cache, torch.zeros(1, 1), torch.tensor([position]))
            pairs = zip(model.layers_of(start_cache), model.layers_of(moved_cache), strict=True)
            return all(
                _near(model.rotate_keys(keys, torch.tensor([by])), moved) and _near(values, same)
                for (keys, values), (moved, same) in pairs
            )
    except ODDITIES:
        return False


def _near(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """Return whether two tensors are equal up to the rounding of the working precision."""
    spread = float(expected.float().abs().max())
    tolerance = spread * (0.02 if actual.dtype in (torch.bfloat16, torch.float16) else 1e-4)
    return actual.shape == expected.shape and float((actual - expected).float().abs().max()) <= tolerance


class KVCache(Protocol):
    """Keys and values of a prefix of the working context."""

    @property
    def length(self) -> int:
        """Number of cached entries."""
        ...

    def crop(self, length: int) -> None:
        """Drop every entry from `length` on."""
        ...

    @property
    def raw(self) -> Any:
        """Cache object of the underlying library."""
        ...


def greedy(model: BaseModel, rows: torch.Tensor, most: int) -> Iterator[int]:
    """Yield up to `most` tokens after entries (W, d), until the answer ends; the stop token is not yielded."""
    with torch.no_grad():
        cache = model.new_cache()
        entries = rows[None]
        for _ in range(most):
            hidden = model.forward(entries, cache)
            token = int(model.logits(hidden[0, -1:]).argmax())
            if token in model.stops:
                return
            yield token
            entries = model.embed(torch.tensor([[token]], dtype=torch.int64)).to(rows)
