"""The frozen language model behind one small Protocol: embeddings in, hidden states and logits out.

Everything the focus engine asks of a model is here, so that SmolLM2, a larger model and the tiny random one
of the tests are interchangeable. All tensors are on the model's device in its working precision unless said
otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

import torch

from amgs_focus.records import ModelCard


class BaseModel(Protocol):
    """A frozen causal language model with its tokenizer. W: entries, d: embedding width, V: vocabulary."""

    @property
    def card(self) -> ModelCard: ...

    def encode(self, text: str) -> list[int]:
        """Token ids of the text with no special token added; those spelled in it are recognised."""
        ...

    def decode(self, tokens: Sequence[int]) -> str:
        """The text of the tokens; incomplete characters come out as the replacement sign."""
        ...

    def sinks(self) -> list[int]:
        """Exactly four token ids that open every working context."""
        ...

    def turn(self, question: str) -> str:
        """The question wrapped as this model expects a user's turn, ending where its answer begins."""
        ...

    def reopen(self, *, ended: bool) -> str:
        """The text that ends the model's turn after an answer. ended: the answer closed with a stop."""
        ...

    @property
    def stops(self) -> frozenset[int]:
        """Token ids at which an answer ends."""
        ...

    def embed(self, tokens: torch.Tensor) -> torch.Tensor:
        """(…,) int64 -> (…, d): rows of the input embedding matrix."""
        ...

    def new_cache(self) -> KVCache:
        """An empty key-value cache."""
        ...

    def forward(self, embeddings: torch.Tensor, cache: KVCache | None = None) -> torch.Tensor:
        """(B, W, d) -> final hidden states (B, W, d) after the last norm.

        With a cache (B = 1) the entries continue it at the next dense positions, and it grows by W. Gradients
        flow to the embeddings when the caller has enabled them; the weights never change.
        """
        ...

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """(N, d) -> (N, V) float32 logits. Flatten first: a batched product copies the matrix."""
        ...


@runtime_checkable
class GatedModel(BaseModel, Protocol):
    """A base model whose attention can be weighed from outside, as `screening` does."""

    def forward_gated(
        self, embeddings: torch.Tensor, cache: KVCache, bias: torch.Tensor, positions: torch.Tensor
    ) -> torch.Tensor:
        """(1, W, d) -> (1, W, d) as `forward`, after what the cache holds.

        bias (W, held + W) is added to the attention's logits in every layer, −inf hides; it replaces the causal
        mask, so it has to hide what comes later. positions (W,) take the place of dense ones. Gradients flow to
        the bias.
        """
        ...


@runtime_checkable
class LayeredModel(BaseModel, Protocol):
    """A base model whose states between the layers can be read, as contextual gists do."""

    def states(self, embeddings: torch.Tensor, layers: int) -> torch.Tensor:
        """(B, W, d) -> (B, W, d): the residual stream after so many layers, 1 to all, before the last norm."""
        ...


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
        """What the underlying library wants."""
        ...
