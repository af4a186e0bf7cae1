"""A tiny random language model with a byte tokenizer, on which the whole engine runs in milliseconds.

It knows nothing, but its output depends on every entry of its context, which is all that tests need. Weights come from
integer draws and the arithmetic is float64, so that every machine decodes the same text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from amgs_focus.model.base_model import KVCache
from amgs_focus.records import ModelCard

WIDTH = 64
LAYERS = 2
HEADS = 4
HEAD_WIDTH = WIDTH // HEADS
SPECIALS = ("<|start|>", "<|user|>", "<|assistant|>", "<|end|>")
VOCABULARY = 256 + len(SPECIALS)
END = VOCABULARY - 1

_SPELLED = re.compile("(" + "|".join(re.escape(special) for special in SPECIALS) + ")")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class TinyCache:
    """Keys and values of a prefix: per layer (1, heads, n, head width)."""

    def __init__(self) -> None:
        self.layers: list[tuple[Tensor, Tensor]] = []

    @property
    def length(self) -> int:
        return int(self.layers[0][0].shape[2]) if self.layers else 0

    def crop(self, length: int) -> None:
        self.layers = [(keys[:, :, :length], values[:, :, :length]) for keys, values in self.layers]

    @property
    def raw(self) -> Any:
        return self.layers


class TinyModel:
    """Two random transformer layers of width 64 over bytes and four special tokens; a BaseModel."""

    def __init__(self, seed: int = 7) -> None:
        draws = np.random.Generator(np.random.PCG64(seed))

        def matrix(rows: int, columns: int, scale: float) -> Tensor:
            steps = draws.integers(-(2**20), 2**20, size=(rows, columns))
            return torch.from_numpy(steps.astype(np.float64) * (scale * math.sqrt(3) / 2**20))

        self._seed = seed
        self._embedding = matrix(VOCABULARY, WIDTH, 0.2)
        plain, sharp = 1 / math.sqrt(WIDTH), 2 / math.sqrt(WIDTH)
        self._layers = [
            {
                "queries": matrix(WIDTH, WIDTH, sharp),
                "keys": matrix(WIDTH, WIDTH, sharp),
                "values": matrix(WIDTH, WIDTH, sharp),
                "out": matrix(WIDTH, WIDTH, sharp),
                "up": matrix(WIDTH, 2 * WIDTH, plain),
                "down": matrix(2 * WIDTH, WIDTH, plain),
            }
            for _ in range(LAYERS)
        ]
        self._head = matrix(WIDTH, VOCABULARY, sharp)
        self._bias = torch.full((VOCABULARY,), -12.0, dtype=torch.float64)
        self._bias[list(b" abcdefghijklmnopqrstuvwxyz.,")] = 0.0  # its output is printable

    @property
    def card(self) -> ModelCard:
        return ModelCard(f"tiny-{self._seed}", VOCABULARY, WIDTH, LAYERS, "fp64")

    def encode(self, text: str) -> list[int]:
        tokens: list[int] = []
        for piece in _SPELLED.split(text):
            if piece in SPECIALS:
                tokens.append(256 + SPECIALS.index(piece))
            else:
                tokens.extend(piece.encode("utf-8", errors="replace"))
        return tokens

    def decode(self, tokens: Sequence[int]) -> str:
        pieces: list[str] = []
        buffer = bytearray()
        for token in tokens:
            if token < 256:
                buffer.append(token)
                continue
            pieces += [buffer.decode("utf-8", errors="replace"), SPECIALS[token - 256]]
            buffer.clear()
        pieces.append(buffer.decode("utf-8", errors="replace"))
        return _CONTROL.sub("\ufffd", "".join(pieces))

    def sinks(self) -> list[int]:
        return [256, 257, 10, 10]

    def turn(self, question: str) -> str:
        return f"\n{question}<|end|>\n<|assistant|>\n"

    def reopen(self, *, ended: bool) -> str:
        return ("" if ended else "<|end|>") + "\n<|user|>\n"

    @property
    def rotates(self) -> bool:
        return True

    @property
    def stops(self) -> frozenset[int]:
        return frozenset({END})

    def embed(self, tokens: Tensor) -> Tensor:
        return self._embedding[tokens]

    def new_cache(self) -> KVCache:
        return TinyCache()

    def forward(self, embeddings: Tensor, cache: KVCache | None = None) -> Tensor:
        past, width = 0 if cache is None else cache.length, embeddings.shape[1]
        causal = torch.ones(width, past + width, dtype=torch.bool).tril(past)
        bias = torch.zeros(width, past + width, dtype=self._embedding.dtype).masked_fill(~causal, -math.inf)
        return self._read(embeddings, cache, bias, torch.arange(past, past + width))

    def forward_gated(self, embeddings: Tensor, cache: KVCache, bias: Tensor, positions: Tensor) -> Tensor:
        return self._read(embeddings, cache, bias.to(self._embedding.dtype), positions)

    def states(self, embeddings: Tensor, layers: int) -> Tensor:
        width = embeddings.shape[1]
        bias = torch.full((width, width), -math.inf, dtype=self._embedding.dtype).triu(1)
        return self._residual(embeddings, None, bias, torch.arange(width), layers)

    def _read(self, embeddings: Tensor, cache: KVCache | None, bias: Tensor, positions: Tensor) -> Tensor:
        return _norm(self._residual(embeddings, cache, bias, positions, LAYERS))

    def _residual(
        self, embeddings: Tensor, cache: KVCache | None, bias: Tensor, positions: Tensor, layers: int
    ) -> Tensor:
        past: list[tuple[Tensor, Tensor]] = [] if cache is None else cache.raw
        hidden = embeddings.to(self._embedding.dtype)
        grown: list[tuple[Tensor, Tensor]] = []
        for number, layer in enumerate(self._layers[:layers]):
            normed = _norm(hidden)
            queries = _rotate(_heads(normed @ layer["queries"]), positions)
            keys = _rotate(_heads(normed @ layer["keys"]), positions)
            values = _heads(normed @ layer["values"])
            if past:
                keys = torch.cat((past[number][0], keys), dim=2)
                values = torch.cat((past[number][1], values), dim=2)
            grown.append((keys, values))
            mixed = _attend(queries, keys, values, bias)  # (B, W, d)
            hidden = hidden + mixed @ layer["out"]
            hidden = hidden + torch.nn.functional.silu(_norm(hidden) @ layer["up"]) @ layer["down"]
        if cache is not None:
            past[:] = grown
        return hidden

    def layers_of(self, cache: KVCache) -> list[tuple[Tensor, Tensor]]:
        """Return keys and values of each layer, (1, heads, n, head width)."""
        return list(cache.raw)

    def cache_of(self, layers: list[tuple[Tensor, Tensor]]) -> KVCache:
        """Return a cache with these keys and values."""
        cache = TinyCache()
        cache.layers = list(layers)
        return cache

    def rotate_keys(self, keys: Tensor, by: Tensor) -> Tensor:
        """Return keys moved `by` (n,) positions each."""
        return _rotate(keys, by)

    def logits(self, hidden: Tensor) -> Tensor:
        return (hidden @ self._head + self._bias).float()


def _norm(hidden: Tensor) -> Tensor:
    return hidden * torch.rsqrt(hidden.pow(2).mean(-1, keepdim=True) + 1e-6)


def _heads(mixed: Tensor) -> Tensor:
    """Return (B, heads, W, head width) from (B, W, d)."""
    batch, width, _ = mixed.shape
    return mixed.view(batch, width, HEADS, HEAD_WIDTH).transpose(1, 2)


def _rotate(states: Tensor, positions: Tensor) -> Tensor:
    """Rotate the halves of (B, heads, W, head width) by the positions (W,), as in RoPE."""
    half = HEAD_WIDTH // 2
    frequencies = 100.0 ** (-torch.arange(half, dtype=states.dtype) / half)
    angles = positions.to(states.dtype)[:, None] * frequencies
    left, right = states[..., :half], states[..., half:]
    cosine, sine = angles.cos(), angles.sin()
    return torch.cat((left * cosine - right * sine, right * cosine + left * sine), dim=-1)


def _attend(queries: Tensor, keys: Tensor, values: Tensor, bias: Tensor) -> Tensor:
    """Return (B, W, d): attention of W new positions to all, with `bias` (W, past + W) added to its logits."""
    batch, _, width, _ = queries.shape
    weights = (queries @ keys.transpose(-1, -2) / math.sqrt(HEAD_WIDTH) + bias).softmax(-1)
    return (weights @ values).transpose(1, 2).reshape(batch, width, WIDTH)
