"""The forward pass of a small BERT sentence encoder, written out: for one short text at a time.

A library's own path spends more on checks, hooks and threads than on the numbers of twenty tokens. The weights are
the loaded model's, not copies; `tests` hold the vectors against the library's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from amgs.types import Vector


def encoder(loaded: Any) -> Callable[[str], Vector] | None:
    """How a loaded SentenceTransformer embeds one text, not scaled to unit length: (d,); None when it is built
    otherwise than a BERT with learned positions, GELU and the mean over its tokens.
    """
    import torch

    try:
        transformer, pooling = loaded[0], loaded[1]
        bert, shared = transformer.auto_model, transformer.tokenizer._tokenizer
        # The library sets its own to pad and cut for each batch, which another thread may be at.
        tokenizer = type(shared).from_str(shared.to_str())
        tokenizer.no_padding()
        tokenizer.no_truncation()
        config = bert.config
        fits = (
            type(bert).__name__ == "BertModel"
            and config.hidden_act == "gelu"
            and getattr(config, "position_embedding_type", "absolute") in (None, "absolute")
            and _pooling(pooling) == "mean"
        )
        layers = [_layer(one) for one in bert.encoder.layer]
    except (AttributeError, IndexError, TypeError):
        return None
    if not fits:
        return None
    longest, heads = int(transformer.max_seq_length), int(config.num_attention_heads)
    tables = bert.embeddings

    def embed(text: str) -> Vector:
        # One thread: the products of a short text are too small to share.
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            with torch.inference_mode():
                ids = torch.tensor(_cut(_tokens(tokenizer.encode(text)), longest))
                states = _embedded(tables, ids)
                for layer in layers:
                    states = _through(torch, layer, states, heads)
                found: Vector = states.mean(0).float().numpy()
                return found
        finally:
            torch.set_num_threads(threads)

    return embed


def _pooling(pooling: Any) -> str:
    """How a pooling layer makes one vector of many; older libraries say it by a method."""
    told = getattr(pooling, "pooling_mode", None)
    return str(told if told is not None else pooling.get_pooling_mode_str())


def _tokens(encoded: Any) -> list[int]:
    """The text's own tokens: a tokenizer may be set to pad, and padding is no part of a mean."""
    return [token for token, counts in zip(encoded.ids, encoded.attention_mask, strict=True) if counts]


def _cut(ids: list[int], longest: int) -> list[int]:
    """At most so many tokens, the closing one kept."""
    return ids if len(ids) <= longest else [*ids[: longest - 1], ids[-1]]


def _embedded(tables: Any, ids: Any) -> Any:
    """(n, d): word, position and type together."""
    states = tables.word_embeddings.weight[ids]  # (n, d)
    states = (
        states + tables.position_embeddings.weight[: ids.shape[0]] + tables.token_type_embeddings.weight[0]
    )
    return tables.LayerNorm(states)


def _layer(one: Any) -> tuple[Any, ...]:
    """The parts of a layer, the three projections of attention as one."""
    import torch

    own = one.attention.self
    weight = torch.cat([own.query.weight, own.key.weight, own.value.weight]).detach()  # (3d, d)
    bias = torch.cat([own.query.bias, own.key.bias, own.value.bias]).detach()
    out = one.attention.output
    return (
        weight,
        bias,
        out.dense,
        out.LayerNorm,
        one.intermediate.dense,
        one.output.dense,
        one.output.LayerNorm,
    )


def _through(torch: Any, layer: tuple[Any, ...], states: Any, heads: int) -> Any:
    """One layer: (n, d) -> (n, d)."""
    weight, bias, out, first, wide, narrow, second = layer
    linear, gelu = torch.nn.functional.linear, torch.nn.functional.gelu
    n, d = states.shape
    query, key, value = (
        linear(states, weight, bias).view(n, 3, heads, d // heads).permute(1, 2, 0, 3)[:, None]
    )
    mixed = torch.nn.functional.scaled_dot_product_attention(query, key, value)  # (1, heads, n, d / heads)
    states = first(states + linear(mixed[0].transpose(0, 1).reshape(n, d), out.weight, out.bias))
    inner = gelu(linear(states, wide.weight, wide.bias))  # (n, 4d)
    return second(states + linear(inner, narrow.weight, narrow.bias))
