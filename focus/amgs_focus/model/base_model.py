"""The frozen language model behind a small Protocol: embeddings in, hidden states and logits out.

Everything the focus engine asks of a model is here, so that SmolLM2, a larger model and the tiny random model of the
tests are interchangeable. All tensors are on the model's device in its working precision unless said otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Protocol, runtime_checkable

import torch

from amgs_focus.records import ModelCard

Layers = list[tuple[torch.Tensor, torch.Tensor]]
"""Per layer keys and values, (1, heads, n, e) each."""


class BaseModel(Protocol):
    """A frozen causal language model with its tokenizer. W: entries, d: embedding width, V: vocabulary."""

    @property
    def card(self) -> ModelCard: ...

    def encode(self, text: str) -> list[int]:
        """Token ids of the text with no special token added; those spelled in it are recognised."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """Return the text of the tokens; incomplete characters come out as the replacement sign."""
        ...

    def sinks(self) -> list[int]:
        """Exactly four token ids that open every working context."""
        ...

    def turn(self, question: str) -> str:
        """Return the question wrapped as this model expects a user's turn, ending where its answer begins."""
        ...

    def reopen(self, *, ended: bool) -> str:
        """Return the text that ends the model's turn after an answer. ended: the answer closed with a stop."""
        ...

    @property
    def rotates(self) -> bool:
        """Return whether this is a `RotaryModel` whose cached keys can be rotated to other positions; checked on the
        model.
        """
        ...

    @property
    def stops(self) -> frozenset[int]:
        """Token ids at which an answer ends."""
        ...

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return (…,) int64 -> (…, d): rows of the input embedding matrix."""
        ...

    def new_cache(self) -> KVCache:
        """Return an empty key-value cache."""
        ...

    def forward(self, embeddings: torch.Tensor, cache: KVCache | None = None) -> torch.Tensor:
        """Return (B, W, d) -> final hidden states (B, W, d) after the last norm.

        With a cache the entries continue it at the next dense positions, every row of B its own, and it grows by W.
        Gradients flow to the embeddings when the caller has enabled them; the weights never change.
        """
        ...

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Return (N, d) -> (N, V) float32 logits. Flatten first: a batched product copies the matrix."""
        ...


@runtime_checkable
class GatedModel(BaseModel, Protocol):
    """A base model whose attention can be weighed from outside, as `screening` does."""

    def forward_gated(
        self, embeddings: torch.Tensor, cache: KVCache, bias: torch.Tensor, positions: torch.Tensor
    ) -> torch.Tensor:
        """Return (1, W, d) -> (1, W, d) as `forward`, after what the cache holds.

        bias (W, held + W) is added to the attention's logits in every layer, −inf hides; it replaces the causal
        mask, so it has to hide what comes later. positions (W,) take the place of dense ones. Gradients flow to
        the bias.
        """
        ...


@runtime_checkable
class LayeredModel(BaseModel, Protocol):
    """A base model whose states between the layers can be read, as contextual gists do."""

    def states(self, embeddings: torch.Tensor, layers: int) -> torch.Tensor:
        """Return (B, W, d) -> (B, W, d): the residual stream after so many layers, 1 to all, before the last norm."""
        ...


class RotaryModel(GatedModel, Protocol):
    """A gated model with rotary positions: a cached key can be turned to another position."""

    def layers_of(self, cache: KVCache) -> Layers:
        """Return what a cache holds."""
        ...

    def cache_of(self, layers: Layers) -> KVCache:
        """Return a cache that holds it."""
        ...

    def rotate_keys(self, keys: torch.Tensor, by: torch.Tensor) -> torch.Tensor:
        """Return (1, heads, n, e) keys as if each had stood so many positions further on; by: (n,) int64."""
        ...


ODDITIES = (RuntimeError, ValueError, TypeError, AttributeError, IndexError, NotImplementedError)
"""What the code of an architecture that nobody tried here raises where it lacks what a probe asks of it."""


def turns_keys(model: RotaryModel, by: int = 37) -> bool:
    """Return whether `turned` gives the keys that the model itself computes `by` positions further on, in every layer.

    One token alone sees only itself, so under rotary positions nothing but its keys depends on where it stands.
    """
    row = model.embed(torch.tensor([model.sinks()[-1:]]))
    here, there = model.new_cache(), model.new_cache()
    try:
        with torch.no_grad():
            for cache, position in ((here, 0), (there, by)):
                model.forward_gated(row, cache, torch.zeros(1, 1), torch.tensor([position]))
            pairs = zip(model.layers_of(here), model.layers_of(there), strict=True)
            return all(
                _near(model.rotate_keys(keys, torch.tensor([by])), moved) and _near(values, same)
                for (keys, values), (moved, same) in pairs
            )
    except ODDITIES:
        return False


def _near(actual: torch.Tensor, expected: torch.Tensor) -> bool:
    """Equal but for the rounding of the working precision."""
    spread = float(expected.float().abs().max())
    tolerance = spread * (0.02 if actual.dtype in (torch.bfloat16, torch.float16) else 1e-4)
    return actual.shape == expected.shape and float((actual - expected).float().abs().max()) <= tolerance


class KVCache(Protocol):
    """Keys and values of a prefix of the working context."""

    @property
    def length(self) -> int:
        """Entries held."""
        ...

    def crop(self, length: int) -> None:
        """Forget every entry from `length` on."""
        ...

    @property
    def raw(self) -> Any:
        """Cache object of the underlying library."""
        ...


def greedy(model: BaseModel, rows: torch.Tensor, most: int) -> Iterator[int]:
    """At most so many tokens after the entries, (W, d), up to where the answer ends; the stop is not among them."""
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
