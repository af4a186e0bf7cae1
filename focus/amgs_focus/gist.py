"""Encode up to 32 entries as one gist: the pointer gist copies a real token's embedding, and GistNet adds what it
learned. Trained nets are found on disk by their base model; computed gists are cached in the process.
"""

from __future__ import annotations

import json
import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import torch
from torch import nn
from torch.nn import functional

from amgs_focus.errors import CheckpointError
from amgs_focus.model import checkpoint_file
from amgs_focus.model.base_model import BaseModel, LayeredModel

MOST = 16_384
"""Most values cached for an owner; the oldest are dropped first."""

_KEPT: WeakKeyDictionary[Any, OrderedDict[Hashable, Any]] = WeakKeyDictionary()


def values_of(owner: object, keys: Sequence[Hashable], make: Callable[[list[int]], Iterable[Any]]) -> list[Any]:
    """Return the value of each key, in order, computing missing ones. make: returns the values at some indexes of
    `keys`.

    A value must be a function of its key, such as a block's gist, so that a text opened again opens at once. The cache
    lasts as long as its owner, a model or an encoder.
    """
    cache = _KEPT.setdefault(owner, OrderedDict())
    known = {key: cache[key] for key in keys if key in cache}
    missing = [at for at, key in enumerate(keys) if key not in known]
    known |= {keys[at]: value for at, value in zip(missing, make(missing) if missing else (), strict=True)}
    cache |= known
    while len(cache) > MOST:
        cache.popitem(last=False)
    return [known[key] for key in keys]


def value_of(owner: object, key: Hashable, make: Callable[[], Any]) -> Any:
    """Return the cached value of a key, or compute it."""
    return values_of(owner, [key], lambda _: [make()])[0]


BLOCK = 32


class GistEncoder(Protocol):
    """Encodes blocks as gists. B: blocks, d: embedding width."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> int:
        """A number that changes whenever the same block would get another gist."""
        ...

    def encode_tokens(self, embeddings: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return gists (B, d) of token embeddings (B, 32, d) and token ids (B, 32)."""
        ...

    def encode_gists(self, gists: torch.Tensor) -> torch.Tensor:
        """Return gists (B, d) of the next level for gists (B, n <= 32, d)."""
        ...


def pointer_gist(embeddings: torch.Tensor) -> torch.Tensor:
    """Return (B, d): the last entry of each block (B, n, d), a real embedding."""
    return embeddings[:, -1]


class PointerEncoder:
    """The baseline without a checkpoint: every gist is a real token's embedding."""

    name = "pointer"
    version = 0

    def encode_tokens(self, embeddings: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return (B, d) for (B, 32, d) and (B, 32)."""
        del tokens
        return pointer_gist(embeddings)

    def encode_gists(self, gists: torch.Tensor) -> torch.Tensor:
        """Return (B, d) for (B, n, d)."""
        return pointer_gist(gists)


@dataclass(frozen=True, slots=True)
class GistShape:
    """Parameters that fix the shape of a net's weights: nets of equal shape can exchange them.

    layer: number of the frozen model's layers after which its states are read beside the embeddings; 0 for none.
    """

    width: int
    hidden: int = 512
    heads: int = 8
    token_ratio: int = 2
    slot_ratio: int = 3
    layer: int = 0


class Attention(nn.Module):
    """Multi-head attention; rows of the block are rotated by their place in it, the gist is not."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.key_value = nn.Linear(hidden, 2 * hidden, bias=False)
        self.output = nn.Linear(hidden, hidden, bias=False)

    def forward(
        self, queries: torch.Tensor, keys: torch.Tensor, *, rotate_queries: bool, rotate_keys: bool
    ) -> torch.Tensor:
        """Return (B, m, h) for queries (B, m, h) and keys (B, n, h)."""
        batch, count, hidden = queries.shape
        q = self.query(queries).view(batch, count, self.heads, -1).transpose(1, 2)
        k, v = self.key_value(keys).view(batch, keys.shape[1], 2, self.heads, -1).permute(2, 0, 3, 1, 4)
        if rotate_queries:
            q = _rotate(q)
        if rotate_keys:
            k = _rotate(k)
        mixed = functional.scaled_dot_product_attention(q, k, v)
        attended: torch.Tensor = self.output(mixed.transpose(1, 2).reshape(batch, count, hidden))
        return attended


class FeedForward(nn.Sequential):
    """Two linear layers with GELU between them."""

    def __init__(self, hidden: int, ratio: int) -> None:
        super().__init__(nn.Linear(hidden, ratio * hidden), nn.GELU(), nn.Linear(ratio * hidden, hidden))


class TokenLayer(nn.Module):
    """Self-attention over the block and a feed-forward layer, both pre-norm."""

    def __init__(self, shape: GistShape) -> None:
        super().__init__()
        self.attention_norm = nn.LayerNorm(shape.hidden)
        self.attention = Attention(shape.hidden, shape.heads)
        self.feed_norm = nn.LayerNorm(shape.hidden)
        self.feed = FeedForward(shape.hidden, shape.token_ratio)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """Return (B, n, h) for tokens (B, n, h)."""
        normed = self.attention_norm(tokens)
        tokens = tokens + self.attention(normed, normed, rotate_queries=True, rotate_keys=True)
        return tokens + self.feed(self.feed_norm(tokens))  # type: ignore[no-any-return]


class SlotLayer(nn.Module):
    """The gist attends to the block: 32 -> 1."""

    def __init__(self, shape: GistShape) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.randn(1, shape.hidden) * 0.02)
        self.slot_norm = nn.LayerNorm(shape.hidden)
        self.token_norm = nn.LayerNorm(shape.hidden)
        self.attention = Attention(shape.hidden, shape.heads)
        self.feed_norm = nn.LayerNorm(shape.hidden)
        self.feed = FeedForward(shape.hidden, shape.slot_ratio)

    def forward(self, gist: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return the gist (B, 1, h) for a gist (B, 1, h) and tokens (B, n, h)."""
        gist = gist + self.query
        gist = gist + self.attention(
            self.slot_norm(gist), self.token_norm(tokens), rotate_queries=False, rotate_keys=True
        )
        return gist + self.feed(self.feed_norm(gist))  # type: ignore[no-any-return]


class ExpandLayer(nn.Module):
    """The block attends to its gist, or to a learned null vector: 1 -> 32."""

    def __init__(self, shape: GistShape) -> None:
        super().__init__()
        self.nothing = nn.Parameter(torch.randn(1, shape.hidden) * 0.02)
        self.slot_norm = nn.LayerNorm(shape.hidden)
        self.token_norm = nn.LayerNorm(shape.hidden)
        self.attention = Attention(shape.hidden, shape.heads)

    def forward(self, tokens: torch.Tensor, gist: torch.Tensor) -> torch.Tensor:
        """Return tokens (B, n, h) for tokens (B, n, h) and their gist (B, 1, h)."""
        source = torch.cat([self.nothing.expand(gist.shape[0], 1, -1), gist], dim=1)
        return tokens + self.attention(  # type: ignore[no-any-return]
            self.token_norm(tokens), self.slot_norm(source), rotate_queries=False, rotate_keys=False
        )


class GistNet(nn.Module):
    """32 -> 1 -> 32 -> 1, then a zero-initialised delta on the pointer. MegaContext, "GistNet".

    A gist replaces its block in the working context. It is a real entry's embedding plus a learned delta that starts at
    zero, so an untrained net is exactly the pointer, and never the mean, which a frozen model cannot read.
    """

    def __init__(self, shape: GistShape) -> None:
        super().__init__()
        self.shape = shape
        self.read_norm = nn.LayerNorm(shape.width)
        self.read = nn.Linear(shape.width, shape.hidden)
        if shape.layer:
            self.state_norm = nn.LayerNorm(shape.width)
            self.read_state = nn.Linear(shape.width, shape.hidden, bias=False)
            nn.init.zeros_(self.read_state.weight)
        self.first = TokenLayer(shape)
        self.compress = SlotLayer(shape)
        self.expand = ExpandLayer(shape)
        self.second = TokenLayer(shape)
        self.refine = SlotLayer(shape)
        self.write_norm = nn.LayerNorm(shape.hidden)
        self.write = nn.Linear(shape.hidden, shape.width)
        nn.init.zeros_(self.write.weight)
        nn.init.zeros_(self.write.bias)

    def forward(self, entries: torch.Tensor, states: torch.Tensor | None = None) -> torch.Tensor:
        """Return gists (B, d) of embeddings or gists (B, n, d), with states (B, n, d) for a shape with a layer."""
        pointer = pointer_gist(entries)
        tokens = self.read(self.read_norm(entries))
        if states is not None:
            tokens = tokens + self.read_state(self.state_norm(states))
        tokens = self.first(tokens)
        gist = self.compress(self.read(self.read_norm(pointer))[:, None], tokens)
        tokens = self.second(self.expand(tokens, gist))
        gist = self.refine(gist, tokens)
        return pointer + self.write(self.write_norm(gist))[:, 0]  # type: ignore[no-any-return]


@torch.no_grad()
def states_for(net: GistNet, model: BaseModel, rows: torch.Tensor) -> torch.Tensor | None:
    """Return the states (B, n, d) that the net reads for rows (B, n, d), each block alone after the sinks; None without
    a layer.

    Raises CheckpointError for a model without readable states.
    """
    if not net.shape.layer:
        return None
    if not isinstance(model, LayeredModel):
        raise CheckpointError(
            f"These gists read the states of a model's layers, and {model.card.name} shows none.",
            way_out="Use gists that read embeddings alone (layer = 0), or another model.",
        )
    sinks = model.embed(torch.tensor(model.sinks())).to(rows)
    entries = torch.cat([sinks.expand(len(rows), -1, -1), rows], dim=1)
    return model.states(entries, net.shape.layer)[:, len(sinks) :].to(net.read.weight)


class GistNetEncoder:
    """A trained pair of nets, for tokens and for gists, as a GistEncoder. model: the frozen model, whose states nets
    may read.
    """

    def __init__(
        self, tokens: GistNet, gists: GistNet, *, name: str, version: int, model: BaseModel | None = None
    ) -> None:
        device = None if model is None else model.embed(torch.tensor([0])).device
        self.token_net = tokens.eval().to(device)
        self.gist_net = gists.eval().to(device)
        self.name = name
        self.version = version
        self.model = model

    def encode_tokens(self, embeddings: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """Return (B, d) for (B, 32, d) and (B, 32), in the embeddings' precision."""
        del tokens
        return self._apply(self.token_net, embeddings)

    def encode_gists(self, gists: torch.Tensor) -> torch.Tensor:
        """Return (B, d) for (B, n, d), in the gists' precision."""
        return self._apply(self.gist_net, gists)

    @torch.no_grad()
    def _apply(self, net: GistNet, entries: torch.Tensor) -> torch.Tensor:
        weight = net.read.weight
        states = None if self.model is None else states_for(net, self.model, entries)
        return net(entries.to(weight), states).to(entries)  # type: ignore[no-any-return]


def _rotate(heads: torch.Tensor) -> torch.Tensor:
    """Return (B, heads, n, e) with each pair of channels rotated by its place in n."""
    count, width = heads.shape[-2:]
    half = width // 2
    rates = torch.exp(torch.arange(half, device=heads.device) * (-math.log(1000.0) / half))
    angles = torch.arange(count, device=heads.device)[:, None] * rates
    cos, sin = angles.cos().to(heads), angles.sin().to(heads)
    left, right = heads[..., :half], heads[..., half : 2 * half]
    return torch.cat([left * cos - right * sin, left * sin + right * cos], dim=-1)


FORMAT = "amgs-gistnet-1"
_OTHERWISE = "Restore the file, or continue with pointer gists."


def save_checkpoint(
    path: Path, tokens: GistNet, gists: GistNet, *, model: BaseModel, training: Mapping[str, str] | None = None
) -> None:
    """Write both nets with their shapes and their base model's fingerprint, in a single rename.

    training: metadata about the training.
    """
    weights = {
        f"{part}.{name}": value.detach().to("cpu", torch.float16).contiguous()
        for part, net in (("tokens", tokens), ("gists", gists))
        for name, value in net.state_dict().items()
    }
    shapes = {"tokens": json.dumps(asdict(tokens.shape)), "gists": json.dumps(asdict(gists.shape))}
    checkpoint_file.write(path, weights, {**(training or {}), "format": FORMAT, **shapes}, model)


def load_checkpoint(path: Path, model: BaseModel) -> GistNetEncoder:
    """Return the encoder that `save_checkpoint` wrote for this model. Its version is the CRC-32 of the weights.

    Raises CheckpointError when the file is missing, damaged, or was trained on another model.
    """
    checkpoint = checkpoint_file.read(path, "gist checkpoint", _OTHERWISE)
    metadata = checkpoint.metadata
    try:
        if metadata["format"] != FORMAT:
            raise CheckpointError(
                f"{path.name} has the format {metadata['format']!r}, not {FORMAT!r}.",
                way_out="Use a checkpoint written by this version.",
            )
        fields = {part: json.loads(metadata[part]) for part in ("tokens", "gists")}
        if any(stored.pop("slots", 1) != 1 for stored in fields.values()):
            raise CheckpointError(
                f"{path.name} gives several gists a block, and a block has a single gist.",
                way_out="Use a checkpoint trained for a single gist, or continue with pointer gists.",
            )
        shapes = {part: GistShape(**stored) for part, stored in fields.items()}
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{path.name} is not a gist checkpoint.", way_out="Choose a file written by the gist training."
        ) from error
    checkpoint.require_base(
        model,
        "Choose a checkpoint for this model, train a net, or continue with pointer gists.",
        shapes["tokens"].width,
    )
    nets = {part: _load_net(checkpoint, shape, part) for part, shape in shapes.items()}
    return GistNetEncoder(nets["tokens"], nets["gists"], name=path.stem, version=checkpoint.version, model=model)


def find_gist_encoder(model: BaseModel, own: Path | None = None) -> GistEncoder:
    """Return the encoder trained for this model, recognised by its embeddings; the pointer encoder if there is none.

    own: a folder of checkpoints, which take precedence over those that ship.
    """
    path = checkpoint_file.find(model, FORMAT, own)
    if path is None:
        return PointerEncoder()
    encoder = value_of(model, (path, path.stat().st_mtime_ns), lambda: load_checkpoint(path, model))
    assert isinstance(encoder, GistNetEncoder)
    return encoder


def _load_net(checkpoint: checkpoint_file.CheckpointFile, shape: GistShape, part: str) -> GistNet:
    net = GistNet(shape)
    own = {
        name.removeprefix(f"{part}."): value.float()
        for name, value in checkpoint.weights.items()
        if name.startswith(f"{part}.")
    }
    try:
        net.load_state_dict(own)
    except RuntimeError as error:
        raise CheckpointError(
            f"The weights in {checkpoint.path.name} do not fit the shape it declares.", way_out=_OTHERWISE
        ) from error
    return net.requires_grad_(False)
