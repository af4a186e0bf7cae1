"""The forward pass of a small BERT sentence encoder over its own files, in numpy: for a short text at a time.

Importing a library for it costs seconds of processor time, twenty tokens cost hundredths of a second. Read are the
files of sentence-transformers: config, tokenizer and weights. `tests` hold the vectors against that library's.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from amgs.extras import is_installed
from amgs.types import Vector

_WEIGHTS = "model.safetensors"


@dataclass(frozen=True, eq=False)
class _Norm:
    """A layer norm: weight and bias (d,)."""

    weight: Vector
    bias: Vector
    epsilon: float

    def __call__(self, states: Vector) -> Vector:
        output: Vector = states - states.mean(axis=1, keepdims=True)
        variance = (output * output).mean(axis=1, keepdims=True)
        output /= np.sqrt(variance + self.epsilon)
        output *= self.weight
        output += self.bias
        return output


@dataclass(frozen=True, eq=False)
class _Linear:
    """An affine map: product of (n, in) with a weight, (n, out); bias (out,)."""

    product: Callable[[Vector], Vector]
    bias: Vector

    def __call__(self, states: Vector) -> Vector:
        output = self.product(states)
        output += self.bias
        return output


@dataclass(frozen=True, eq=False)
class _Layer:
    """projections: the three of attention as one, (3d, d)."""

    projections: _Linear
    mixed: _Linear
    first: _Norm
    wide: _Linear
    narrow: _Linear
    second: _Norm

    def __call__(self, states: Vector, heads: int) -> tuple[Vector, Vector]:
        """Return (n, d) -> (n, d), and the attention of every head, (heads, n, n)."""
        n, d = states.shape
        split = self.projections(states).reshape(n, 3, heads, d // heads)
        query, key, value = split.transpose(1, 2, 0, 3)  # (heads, n, d / heads) each
        attention = _softmax(query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(d // heads)))
        joined = (attention @ value).transpose(1, 0, 2).reshape(n, d)
        states = self.first(states + self.mixed(joined))
        return self.second(states + self.narrow(_gelu(self.wide(states)))), attention


class BertEncoder:
    """A BERT with learned positions, GELU and the mean over its tokens. Create it with `open`."""

    def __init__(self, tokenizer: Any, weights: Any, config: dict[str, Any], longest: int, product: _Product) -> None:
        self._tokenizer = tokenizer
        self._longest = longest
        self._heads = int(config["num_attention_heads"])
        self._words = weights.get_slice("embeddings.word_embeddings.weight")  # read row by row: most are never met
        self._met: dict[int, Vector] = {}
        self._positions = _array(weights, "embeddings.position_embeddings.weight")
        self._type = _array(weights, "embeddings.token_type_embeddings.weight")[0]
        epsilon = float(config["layer_norm_eps"])
        self._norm = _norm(weights, "embeddings.LayerNorm", epsilon)
        self._layers = [_layer(weights, number, epsilon, product) for number in range(int(config["num_hidden_layers"]))]

    @classmethod
    def open(cls, folder: Path, precision: str = "auto") -> BertEncoder | None:
        """Return the encoder of a folder that sentence-transformers wrote; None for an encoder that is built otherwise,
        or where the packages that read it are missing. precision: of its products, as `number_format` takes it.
        """
        if not (is_installed("tokenizers") and is_installed("safetensors")):
            return None
        try:
            config, longest = _read(folder)
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if config is None:
            return None
        from safetensors import SafetensorError, safe_open
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        tokenizer.no_truncation()
        try:
            weights = safe_open(folder / _WEIGHTS, "np")
            return cls(tokenizer, weights, config, longest, _PRODUCTS[number_format(precision)])
        except (OSError, SafetensorError):
            return None

    @property
    def dimension(self) -> int:
        return int(self._type.size)

    def embed(self, text: str) -> Vector:
        """Return the vector of a text, not scaled to unit length: (d,)."""
        with one_thread():
            states = self._embed_tokens(_cut(self._tokenizer.encode(text).ids, self._longest))
            for layer in self._layers:
                states, _ = layer(states, self._heads)
        return np.asarray(states.mean(axis=0))

    @property
    def longest(self) -> int:
        """Maximum number of tokens of a text, including the two around it."""
        return self._longest

    def pieces(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        """Return a text of any length as token ids, with the characters that each is of; the two around it are left
        out.
        """
        encoding = self._tokenizer.encode(text, add_special_tokens=False)
        return encoding.ids, encoding.offsets

    def layers(self, pieces: Sequence[int]) -> tuple[Vector, Vector]:
        """Return what every layer makes of some tokens, (layers, n, d), and its attention, (layers, heads, n, n).

        The two tokens around a text are added for it and taken out again. Raises ValueError for too many.
        """
        around = self._tokenizer.encode("").ids
        ids = [around[0], *pieces, around[-1]]
        if len(ids) > self._longest:
            raise ValueError(f"{len(pieces)} tokens are more than {self._longest - len(around)}")
        states = self._embed_tokens(ids)
        outputs, attended = [], []
        for layer in self._layers:
            states, attention = layer(states, self._heads)
            outputs.append(states[1:-1])
            attended.append(attention[:, 1:-1, 1:-1])
        return np.stack(outputs), np.stack(attended)

    def _embed_tokens(self, ids: Sequence[int]) -> Vector:
        for i in ids:
            if i not in self._met:
                self._met[i] = self._words[i : i + 1][0].astype(np.float32)
        words = np.stack([self._met[i] for i in ids])  # (n, d)
        return self._norm(words + self._positions[: len(ids)] + self._type)


def _read(folder: Path) -> tuple[dict[str, Any] | None, int]:
    """Return the configuration, None for a model that is built otherwise; and the most tokens of a text."""
    config, modules, pooling = (
        _json(folder / name) for name in ("config.json", "modules.json", "1_Pooling/config.json")
    )
    fits = (
        config["model_type"] == "bert"
        and config["hidden_act"] == "gelu"
        and config.get("position_embedding_type", "absolute") == "absolute"
        and [module["type"].rpartition(".")[2] for module in modules] in (_PARTS, _PARTS[:2])
        and _pooling(pooling) == "mean"
    )
    longest = int(_json(folder / "sentence_bert_config.json")["max_seq_length"])
    return config if fits else None, min(longest, int(config["max_position_embeddings"]))


_PARTS = ["Transformer", "Pooling", "Normalize"]


def _json(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def _pooling(config: dict[str, Any]) -> str:
    """Return how the vectors of the tokens become a single vector; older files say it by a flag for each way."""
    if "pooling_mode" in config:
        return str(config["pooling_mode"])
    ways = [name for name, on in config.items() if name.startswith("pooling_mode_") and on]
    return "mean" if ways == ["pooling_mode_mean_tokens"] else "+".join(ways)


def _cut(ids: list[int], longest: int) -> list[int]:
    """At most so many tokens, the last token included."""
    return ids if len(ids) <= longest else [*ids[: longest - 1], ids[-1]]


def _array(weights: Any, name: str) -> Vector:
    return np.asarray(weights.get_tensor(name), dtype=np.float32)


def number_format(wanted: str) -> str:
    """`float32` or `bfloat16` as it is wanted; for `auto` bfloat16 where the processor multiplies it natively: there
    products take a third of the time, elsewhere twice.
    """
    if wanted != "auto":
        return wanted
    try:
        features = Path("/proc/cpuinfo").read_text(encoding="ascii", errors="replace")
    except OSError:
        return "float32"
    return "bfloat16" if re.search(r"\b(?:amx_bf16|avx512_bf16)\b", features) else "float32"


_Product = Callable[[Vector], Callable[[Vector], Vector]]
"""Of a weight (out, in): what multiplies states (n, in) with it, (n, out)."""


def _in_float32(weight: Vector) -> Callable[[Vector], Vector]:
    turned = np.ascontiguousarray(weight.T)  # else products of few rows take half as long again
    return lambda states: np.asarray(states @ turned)


def _in_bfloat16(weight: Vector) -> Callable[[Vector], Vector]:
    """Sums are in float32."""
    library = import_module("numkong")
    packed = library.dots_pack(library.from_dlpack(weight).astype("bf16"))

    def product(states: Vector) -> Vector:
        rounded = library.from_dlpack(states).astype("bf16")
        return np.asarray(library.dots_packed(rounded, packed))

    return product


_PRODUCTS: dict[str, _Product] = {"float32": _in_float32, "bfloat16": _in_bfloat16}


def _linear(weights: Any, product: _Product, *names: str) -> _Linear:
    """Return several maps of the same states as a single map."""
    parts = [(_array(weights, f"{name}.weight"), _array(weights, f"{name}.bias")) for name in names]
    whole = np.concatenate([weight for weight, _ in parts])
    return _Linear(product(whole), np.concatenate([bias for _, bias in parts]))


def _norm(weights: Any, name: str, epsilon: float) -> _Norm:
    return _Norm(_array(weights, f"{name}.weight"), _array(weights, f"{name}.bias"), epsilon)


def _layer(weights: Any, number: int, epsilon: float, product: _Product) -> _Layer:
    """Return a layer of the model: a function from its input to its output, with these weights."""
    at = f"encoder.layer.{number}"
    return _Layer(
        _linear(weights, product, *(f"{at}.attention.self.{name}" for name in ("query", "key", "value"))),
        _linear(weights, product, f"{at}.attention.output.dense"),
        _norm(weights, f"{at}.attention.output.LayerNorm", epsilon),
        _linear(weights, product, f"{at}.intermediate.dense"),
        _linear(weights, product, f"{at}.output.dense"),
        _norm(weights, f"{at}.output.LayerNorm", epsilon),
    )


def _softmax(scores: Vector) -> Vector:
    """Over the last axis."""
    shares: Vector = scores - scores.max(axis=-1, keepdims=True)
    np.exp(shares, out=shares)
    shares /= shares.sum(axis=-1, keepdims=True)
    return shares


def _gelu(values: Vector) -> Vector:
    """x Φ(x), with the error function as Abramowitz and Stegun 7.1.26 have it: off by 1.5e-7 at most."""
    size = np.abs(values)
    size *= np.float32(np.sqrt(0.5))
    t = size * np.float32(0.3275911)
    t += np.float32(1.0)
    np.divide(np.float32(1.0), t, out=t)
    error: Vector = np.full_like(t, 1.061405429)
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        error *= t
        error += np.float32(factor)
    error *= t
    size *= size
    np.negative(size, out=size)
    error *= np.exp(size, out=size)
    np.subtract(np.float32(1.0), error, out=error)
    np.copysign(error, values, out=error)
    error += np.float32(1.0)
    error *= values
    error *= np.float32(0.5)
    return error


# How many threads the products of numpy may take: one, while a question is being answered.


_LOCK = threading.Lock()
_BEFORE: list[tuple[Any, int]] = []
"""The libraries that are limited now, and how many threads each had."""
_INSIDE = 0


@contextmanager
def one_thread() -> Iterator[None]:
    """Inside, products are not split, in no thread of the process; may be entered by several at once. Without the
    package threadpoolctl nothing changes.
    """
    global _INSIDE
    with _LOCK:
        if not _INSIDE:
            _BEFORE[:] = [(library, library.num_threads) for library in _libraries()]
            for library, _ in _BEFORE:
                _allow(library, 1)
        _INSIDE += 1
    try:
        yield
    finally:
        with _LOCK:
            _INSIDE -= 1
            if not _INSIDE:
                for library, threads in _BEFORE:
                    _allow(library, threads)


def _allow(library: Any, threads: int) -> None:
    """From threadpoolctl 3.8 on, a limit set by another thread than the first is silently ignored."""
    if free := getattr(library, "clear_controlling_thread", None):
        free(force=True)
    library.set_num_threads(threads)


@cache
def _libraries() -> list[Any]:
    """Return what computes numpy's products."""
    if not is_installed("threadpoolctl"):
        return []
    controller = import_module("threadpoolctl").ThreadpoolController()
    return list(controller.select(user_api="blas").lib_controllers)
