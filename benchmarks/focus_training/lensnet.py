"""LensNet: what each entry's detail is worth to what comes next, read from the working context and its end.

MegaContext, "LensNet". Dual cross-attention: the end of the lifetime (tail gists, the last tokens, the question) reads
the entries, then every entry reads the end. It is not causal: the question at the end decides about what stood long
before it. A causal twin, which reads each entry as when the lifetime ended there, exists as a control for tests only.

LensNets on disk, and linear lenses where training found that attention adds nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from amgs_focus.errors import CheckpointError
from amgs_focus.lens import checkpoint
from amgs_focus.lens.checkpoint import FLOORS, floors_of, stored_floors
from amgs_focus.lens.checkpoint import NETWORK as FORMAT
from amgs_focus.lens.linear import NAMES, LensFeatures, LinearLens
from amgs_focus.lens.scoring import FocusScorer, LensView, SpreadFloors, as_of, by_entry, scores_of
from amgs_focus.model import checkpoint_file
from amgs_focus.model.base_model import BaseModel
from amgs_focus.records import NodeRef
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.working_context import Scores, Values, WorkingContext

RECENT = 32  # last tokens that the end is made of, beside the tail gists
ASKED = 48  # last tokens of the question
KINDS = 3  # of rows of the end: tail gist, recent token, token of the question


@dataclass(frozen=True, slots=True)
class LensShape:
    """Everything that fixes a net's weights. width: of the embeddings; hidden: d_lens; features: by name."""

    width: int
    hidden: int = 128
    heads: int = 4
    stacks: int = 2
    features: tuple[str, ...] = NAMES


@dataclass(frozen=True, slots=True)
class LensInput:
    """What a net reads. N: entries, K: rows of the end.

    rows (N, d): each entry's gist, for an open block that of the block; features (N, F); end (K, d); kinds (K,).
    """

    rows: torch.Tensor
    features: torch.Tensor
    end: torch.Tensor
    kinds: torch.Tensor


class CrossAttention(nn.Module):
    """Multi-head attention of some rows to others, with norms in front and what was read added on."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query_norm, self.key_norm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.key_value = nn.Linear(hidden, 2 * hidden, bias=False)
        self.output = nn.Linear(hidden, hidden, bias=False)

    def forward(self, queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """(m, h), (n, h) -> (m, h)."""
        count, width = queries.shape
        q = self.query(self.query_norm(queries)).view(count, self.heads, -1).transpose(0, 1)
        k, v = self.key_value(self.key_norm(keys)).view(len(keys), 2, self.heads, -1).permute(1, 2, 0, 3)
        mixed = functional.scaled_dot_product_attention(q, k, v)  # (heads, m, h / heads)
        read: torch.Tensor = self.output(mixed.transpose(0, 1).reshape(count, width))
        return queries + read


class DualAttention(nn.Module):
    """One stack: the end reads the entries, the entries read the end."""

    def __init__(self, shape: LensShape) -> None:
        super().__init__()
        self.gather = CrossAttention(shape.hidden, shape.heads)
        self.spread = CrossAttention(shape.hidden, shape.heads)
        self.norm = nn.LayerNorm(shape.hidden)
        self.feed = nn.Sequential(
            nn.Linear(shape.hidden, 2 * shape.hidden), nn.GELU(), nn.Linear(2 * shape.hidden, shape.hidden)
        )

    def forward(self, entries: torch.Tensor, end: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """(N, h), (K, h) -> the same; an end of no rows is neither read nor written."""
        if len(end):
            end = self.gather(end, entries)
            entries = self.spread(entries, end)
        return entries + self.feed(self.norm(entries)), end


class LensNet(nn.Module):
    """Predicts an entry's worth: a sum of one number for each feature and one for what attention found."""

    def __init__(self, shape: LensShape) -> None:
        super().__init__()
        self.shape = shape
        self.row_norm = nn.LayerNorm(shape.width)
        self.read_rows = nn.Linear(shape.width, shape.hidden)
        self.read_end = nn.Linear(shape.width, shape.hidden)
        self.read_features = nn.Linear(len(shape.features), shape.hidden)
        self.kind = nn.Embedding(KINDS, shape.hidden)
        self.stacks = nn.ModuleList(DualAttention(shape) for _ in range(shape.stacks))
        self.head_norm = nn.LayerNorm(shape.hidden)
        self.head = nn.Linear(shape.hidden, 1)
        self.weights = nn.Parameter(torch.zeros(len(shape.features)))
        nn.init.zeros_(self.head.weight)
        nn.init.zeros_(self.head.bias)

    def forward(self, given: LensInput) -> torch.Tensor:
        """-> (N, 1 + F): what attention adds to each entry's worth, then what each feature adds."""
        features, tail = given.features, given.end
        entries = self.read_rows(self.row_norm(given.rows)) + self.read_features(features)
        end = self.read_end(self.row_norm(tail)) + self.kind(given.kinds)
        for stack in self.stacks:
            entries, end = stack(entries, end)
        found = self.head(self.head_norm(entries))  # (N, 1)
        return torch.cat([found, features * self.weights], dim=1)


class TailGistCache:
    """The gists that condition LensNet: the latest node of the highest level, then the last L1 gists."""

    def __init__(self, window: int = 5) -> None:
        self._window = window
        self._key: tuple[Any, ...] = ()
        self._gists = torch.zeros(0, 0)

    def fetch(self, tree: LifetimeTree) -> torch.Tensor:
        """(k, d), k <= slots * (1 + window): root first, then oldest to newest; (0, d) while there is no
        gist.
        """
        key = (id(tree), tree.count(1), len(tree.truncations), tree.generation)
        if key != self._key:
            last, depth = tree.count(1), tree.depth
            pieces = [torch.zeros(0, tree.model.card.width)]
            if depth > 1:
                pieces.append(tree.gists(depth, tree.count(depth) - 1, tree.count(depth)).flatten(0, 1))
            if last:
                pieces.append(tree.gists(1, max(0, last - self._window), last).flatten(0, 1))
            self._key, self._gists = key, torch.cat(pieces)
        return self._gists


class LensReader:
    """Makes a net's input of a view; keeps what one lifetime's views share."""

    def __init__(self) -> None:
        self._features: LensFeatures | None = None
        self._tail = TailGistCache()
        self.question_words: Values | None = None  # (entries,) of the view read last

    def read(self, view: LensView) -> LensInput:
        """The input of a view with at least one entry."""
        tree = view.tree
        return self._read(view, self._tail.fetch(tree), tree.length)

    def read_before(self, view: LensView, at: int) -> LensInput:
        """The input of the entries up to `at`, as when the lifetime ended with that entry."""
        prefix = as_of(view, at)
        until = prefix.context.lifetime
        return self._read(prefix, _gists_before(view.tree, until), until)

    def _read(self, view: LensView, gists: torch.Tensor, until: int) -> LensInput:
        """gists: (k, d) of the end; until: the token with which the end ends."""
        context, tree = view.context, view.tree
        if self._features is None or self._features.tree is not tree:
            self._features = LensFeatures(tree)
        features = torch.from_numpy(self._features.of(view)).float()
        self.question_words = features[:, NAMES.index("question_words")].numpy().astype(np.float64)
        recent = tree.tokens(max(0, until - RECENT), until).astype(np.int64)
        asked = np.asarray(view.question[-ASKED:], np.int64)
        with torch.no_grad():
            tokens = tree.model.embed(torch.from_numpy(np.concatenate([recent, asked])))
        end = torch.cat([gists, tokens.to(gists)])
        kinds = torch.tensor([0] * len(gists) + [1] * len(recent) + [2] * len(asked))
        return LensInput(_rows(context, tree), features, end, kinds)


class LensNetScorer:
    """A trained net as a FocusScorer. version: CRC-32 of its weights, as GistNet's.

    causal: each entry is scored from what stands before it and in it, the control of the C1/C2 tests. It knows a
    question that was asked before the entry, and none that comes after.
    """

    def __init__(
        self,
        net: LensNet,
        *,
        name: str,
        version: int,
        floors: SpreadFloors | None = None,
        causal: bool = False,
    ) -> None:
        self.floors = floors or SpreadFloors()
        self.net = net.eval().requires_grad_(False)
        self.name = name
        self.version = version
        self._causal = causal
        self._reader = LensReader()

    def twin(self) -> LensNetScorer:
        """The causal control with the same weights."""
        return LensNetScorer(
            self.net, name=f"{self.name} causal", version=self.version, floors=self.floors, causal=True
        )

    def worth(self, view: LensView) -> Mapping[NodeRef, float]:
        """What each entry's detail is predicted to be worth, in the units of the training's targets.

        For a gist: that it is opened; for a block of tokens: that it stays open. Comparable over snapshots.
        """
        return by_entry(view, self._named(view))

    def score(self, view: LensView) -> Scores:
        """Signed scores, one part for attention and one for each feature."""
        return scores_of(view, self._named(view), self.floors, self._reader.question_words)

    def _named(self, view: LensView) -> dict[str, Values]:
        summands = self._summands(view)
        return {name: summands[:, at] for at, name in enumerate(("attention", *self.net.shape.features))}

    def _summands(self, view: LensView) -> Values:
        """(entries, 1 + F)."""
        if not view.context.entries():
            return np.zeros((0, 1 + len(self.net.shape.features)))
        with torch.no_grad():
            if not self._causal:
                found: Values = self.net(self._reader.read(view)).double().numpy()
                return found
            places = range(len(view.context.entries()))
            alone = [self.net(self._reader.read_before(view, at))[-1:] for at in places]
        return torch.cat(alone).double().numpy()


def _gists_before(tree: LifetimeTree, until: int, window: int = 5) -> torch.Tensor:
    """(k, d): what `TailGistCache` gives of a lifetime that ends with a token."""
    pieces = [torch.zeros(0, tree.model.card.width)]
    size = tree.block_size
    for level in range(tree.depth, 1, -1):
        if count := min(tree.count(level), until // size**level):
            pieces.append(tree.gists(level, count - 1, count).flatten(0, 1))
            break
    if last := min(tree.count(1), until // size):
        pieces.append(tree.gists(1, max(0, last - window), last).flatten(0, 1))
    return torch.cat(pieces)


def _rows(context: WorkingContext, tree: LifetimeTree) -> torch.Tensor:
    """(N, d): the first slot of each entry's gist; a block's own at level 0, and 0 for the open one."""
    rows = torch.zeros(len(context.entries()), tree.model.card.width)
    by_level: dict[int, list[tuple[int, int]]] = {}
    for place, entry in enumerate(context.entries()):
        level = max(1, entry.level)
        if entry.index < tree.count(level):
            by_level.setdefault(level, []).append((place, entry.index))
    for level, found in by_level.items():
        first = min(index for _, index in found)
        last = max(index for _, index in found)
        if last - first < 4 * len(found):  # neighbours, mostly: one read
            gists = tree.gists(level, first, last + 1)[:, 0]
            rows[[place for place, _ in found]] = gists[[index - first for _, index in found]]
        else:
            for place, index in found:
                rows[place] = tree.gists(level, index, index + 1)[0, 0]
    return rows


_OTHERWISE = "Restore the file, or set focus.lens to search."
_ANOTHER = "Choose a checkpoint for this model, train one, or set focus.lens to search."


def save_checkpoint(
    path: Path, net: LensNet, *, model: BaseModel, gist: str, made: Mapping[str, str] | None = None
) -> None:
    """Writes the net in half precision and the floors of its scores, in one rename.

    gist: name and version of the gists it was trained on. made: what is to be told of the training
    (`training.model_card`).
    """
    weights = {
        f"net.{name}": value.detach().to("cpu", torch.float16).contiguous()
        for name, value in net.state_dict().items()
    }
    weights[FLOORS] = stored_floors(SpreadFloors())
    shape = json.dumps({**asdict(net.shape), "features": list(net.shape.features)})
    checkpoint_file.write(
        path, weights, {**(made or {}), "format": FORMAT, "gist": gist, "shape": shape}, model
    )


def load_checkpoint(path: Path, model: BaseModel, *, causal: bool = False) -> LensNetScorer | LinearLens:
    """Reads what `save_checkpoint` or `save_linear` wrote, for this model. The version is the CRC-32 of the weights
    and the floors.

    Raises CheckpointError when the file is missing, damaged, was trained on another model, or for features that
    this version does not compute.
    """
    found = checkpoint_file.read(path, "lens checkpoint", _OTHERWISE)
    if found.metadata.get("format") == checkpoint.FORMAT:
        return checkpoint.linear_of(found, model, causal=causal)
    shape = _shape(path, found.metadata)
    found.require_base(model, _ANOTHER, shape.width)
    net = LensNet(shape)
    try:
        net.load_state_dict(
            {n.removeprefix("net."): v.float() for n, v in found.weights.items() if n.startswith("net.")}
        )
    except RuntimeError as error:
        raise CheckpointError(
            f"The weights in {path.name} do not fit the shape it declares.", way_out=_OTHERWISE
        ) from error
    floors = floors_of(found)
    return LensNetScorer(net, name=path.stem, version=found.version, floors=floors, causal=causal)


def _shape(path: Path, metadata: Mapping[str, str]) -> LensShape:
    try:
        if metadata["format"] != FORMAT:
            raise CheckpointError(
                f"{path.name} has the format {metadata['format']!r}, not {FORMAT!r}.",
                way_out="Choose a file written by the lens training.",
            )
        told = json.loads(metadata["shape"])
        shape = LensShape(**{**told, "features": tuple(told["features"])})
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(
            f"{path.name} is not a lens checkpoint.", way_out="Choose a file written by the lens training."
        ) from error
    if shape.features != NAMES:
        raise CheckpointError(
            f"{path.name} uses other features than this version computes.", way_out="Train it again."
        )
    return shape


def for_model(model: BaseModel, lens: str = "linear", own: Path | None = None) -> FocusScorer:
    """What `lens` names, as the engine takes it; a path may be that of a LensNet too."""
    if lens in checkpoint.NAMED:
        return checkpoint.for_model(model, lens, own)
    return load_checkpoint(Path(lens).expanduser(), model)
