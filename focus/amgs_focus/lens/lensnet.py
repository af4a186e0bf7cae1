"""LensNet: predicts what each entry's detail is worth to the next tokens, from features of the working context and its
end.

MegaContext, "LensNet". Dual cross-attention: the end of the lifetime (tail gists, the last tokens, the question) reads
the entries, then every entry reads the end. It is not causal: the question at the end decides about text long before
it. Nets are saved, and found, by the base model that they were trained on.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from amgs_focus.errors import CheckpointError
from amgs_focus.lens.scoring import FocusScorer, LensView, SpreadFloors, TailSimilarity, scores_of
from amgs_focus.model import checkpoint_file
from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import OPTIONS
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.span_index import SpanIndex
from amgs_focus.window.working_context import Entry, Scores, Values, WorkingContext

NAMES = (
    "level",
    "width",
    "open",
    "asked",
    "question_words",
    "question_best",
    "question_meaning",
    "far_prose",
    "near_prose",
    "far_code",
    "near_code",
)
"""open: the entry is tokens now. asked: there is a question. question_words: share of its words, by idf, in the best
block of the span; question_best: the same relative to the best entry; question_meaning: cosine of mean embeddings, in
[0, 1].

The others are 0 while there is a question. level; width: log of the blocks covered. far_… grows and near_… falls with
the distance to the cursor, weighted by how much of the last tokens is prose and how much code: near and far blocks help
them differently.
"""


class LensFeatures:
    """Computes the features of the entries of a lifetime's contexts.

    A feature is a named number that can be shown to an operator, computed from the tokens and the layout at a cost that
    does not exceed the window's. Features that did not help on texts unseen in training were left out:
    benchmarks/notebooks/negative-results.md.
    """

    def __init__(self, tree: LifetimeTree) -> None:
        self.tree = tree
        self._index = SpanIndex(tree)
        self._symbols: dict[int, bool] = {}

    def of(self, view: LensView) -> Values:
        """Return (entries, len(NAMES)) features, each roughly in [0, 1]."""
        context, tree = view.context, self.tree
        self._index.sync()
        entries = context.entries()
        blocks = np.array([(entry.end - entry.start) / tree.block_size for entry in entries])
        words, meaning = self._resemblance(view.question, entries)
        settled = np.array([entry.end <= context.tail_start for entry in entries], bool)
        best = words[settled].max(initial=0.0)
        # a question decides alone: what it asks for is wanted anywhere, even below a coarse gist,
        # whose opening alone does not help
        weight = float(not view.question)
        columns = {
            "level": weight * np.array([entry.level for entry in entries], np.float64) / 3,
            "width": weight * np.log2(np.maximum(blocks, 1.0)) / 10,
            "open": np.array([entry.level == 0 for entry in entries], np.float64),
            "asked": np.full(len(entries), float(bool(view.question))),
            "question_words": words,
            "question_best": words / best if best else np.zeros(len(entries)),
            "question_meaning": meaning,
        }
        code = self._share_of_code(context.lifetime)
        distance = np.array([context.distance(entry) for entry in entries], np.float64)
        for name, share in (("prose", 1 - code), ("code", code)):
            columns[f"far_{name}"] = weight * share * np.minimum(1.0, distance / OPTIONS.far_blocks)
            columns[f"near_{name}"] = weight * share / (1 + distance / OPTIONS.near_blocks)
        return np.stack([columns[name] for name in NAMES], axis=1)

    def _resemblance(self, tokens: Sequence[int], entries: Sequence[Entry]) -> tuple[Values, Values]:
        """Return (entries,) the share of common words and (entries,) the similarity of meaning; 0 without tokens."""
        if not tokens:
            return np.zeros(len(entries)), np.zeros(len(entries))
        nodes = [entry.node for entry in entries]
        query = self._index.query(tokens, [1.0] * len(tokens))
        return self._index.lexical(query, nodes), (1 + self._index.similarity(query, nodes)) / 2

    def _share_of_code(self, until: int) -> float:
        """Return in [0, 1] how much of the last tokens is code, by the share of them without a letter."""
        tree = self.tree
        tokens = tree.tokens(max(0, until - OPTIONS.latest_tokens), until).tolist()
        for token in set(tokens) - self._symbols.keys():
            self._symbols[token] = not any(map(str.isalpha, tree.model.decode([token])))
        share = sum(self._symbols[token] for token in tokens) / max(1, len(tokens))
        return min(1.0, max(0.0, (share - OPTIONS.prose_share) / (OPTIONS.code_share - OPTIONS.prose_share)))


LATEST = 5  # level-1 gists in the end
RECENT = 32  # last tokens in the end
ASKED = 48  # last tokens of the question
KINDS = 3  # kinds of rows of the end: tail gist, recent token, token of the question


@dataclass(frozen=True, slots=True)
class LensShape:
    """Parameters that fix the shape of a net's weights. width: of the embeddings; hidden: d_lens; features: their
    names.
    """

    width: int
    hidden: int = 128
    heads: int = 4
    stacks: int = 2
    features: tuple[str, ...] = NAMES


@dataclass(frozen=True, slots=True)
class LensInput:
    """Input of a net with N entries and K rows of the end.

    rows (N, d): each entry's gist, for a block the gist of the block; features (N, F); end (K, d); kinds (K,).
    """

    rows: torch.Tensor
    features: torch.Tensor
    end: torch.Tensor
    kinds: torch.Tensor


class CrossAttention(nn.Module):
    """Multi-head attention of one set of rows to another, pre-norm, with a residual connection."""

    def __init__(self, hidden: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query_norm, self.key_norm = nn.LayerNorm(hidden), nn.LayerNorm(hidden)
        self.query = nn.Linear(hidden, hidden, bias=False)
        self.key_value = nn.Linear(hidden, 2 * hidden, bias=False)
        self.output = nn.Linear(hidden, hidden, bias=False)

    def forward(self, queries: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
        """Return (m, h) for queries (m, h) and keys (n, h)."""
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
        """Return the updated entries (N, h) and end (K, h); an empty end is skipped."""
        if len(end):
            end = self.gather(end, entries)
            entries = self.spread(entries, end)
        return entries + self.feed(self.norm(entries)), end


class LensNet(nn.Module):
    """Predicts an entry's worth: a linear term for each feature plus a term from attention."""

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

    def forward(self, lens_input: LensInput) -> torch.Tensor:
        """Return (N, 1 + F): the term from attention, then the term of each feature."""
        features, tail = lens_input.features, lens_input.end
        entries = self.read_rows(self.row_norm(lens_input.rows)) + self.read_features(features)
        end = self.read_end(self.row_norm(tail)) + self.kind(lens_input.kinds)
        for stack in self.stacks:
            entries, end = stack(entries, end)
        worths = self.head(self.head_norm(entries))  # (N, 1)
        return torch.cat([worths, features * self.weights], dim=1)


class LensReader:
    """Builds a net's input from a view; caches what views of one lifetime share."""

    def __init__(self) -> None:
        self._features: LensFeatures | None = None
        self.question_words: Values | None = None  # (entries,) of the last view

    def read(self, view: LensView) -> LensInput:
        """Return the input for a view with at least one entry."""
        context, tree = view.context, view.tree
        until = context.lifetime
        if self._features is None or self._features.tree is not tree:
            self._features = LensFeatures(tree)
        features = torch.from_numpy(self._features.of(view)).float()
        self.question_words = features[:, NAMES.index("question_words")].numpy().astype(np.float64)
        recent = tree.tokens(max(0, until - RECENT), until).astype(np.int64)
        question = np.asarray(view.question[-ASKED:], np.int64)
        with torch.no_grad():
            tokens = tree.model.embed(torch.from_numpy(np.concatenate([recent, question])))
        gists = _tail_gists(tree, until)
        end = torch.cat([gists, tokens.to(gists)])
        kinds = torch.tensor([0] * len(gists) + [1] * len(recent) + [2] * len(question))
        return LensInput(_rows(context, tree), features, end, kinds)


class LensNetScorer:
    """A trained net as a FocusScorer. version: CRC-32 of its weights and floors."""

    def __init__(self, net: LensNet, *, name: str, version: int, floors: SpreadFloors | None = None) -> None:
        self.floors = floors or SpreadFloors()
        self.net = net.eval().requires_grad_(False)
        self.name = name
        self.version = version
        self._reader = LensReader()

    def score(self, view: LensView) -> Scores:
        """Return signed scores with a part for attention and one for each feature."""
        return scores_of(view, self._name_summands(view), self.floors, self._reader.question_words)

    def _name_summands(self, view: LensView) -> dict[str, Values]:
        summands = self._summands(view)
        return {name: summands[:, at] for at, name in enumerate(("attention", *self.net.shape.features))}

    def _summands(self, view: LensView) -> Values:
        """Return (entries, 1 + F) terms of the worths."""
        if not view.context.entries():
            return np.zeros((0, 1 + len(self.net.shape.features)))
        device = view.tree.model.embed(torch.tensor([0])).device  # run the net on the model's device
        lens_input = self._reader.read(view)
        lens_input = LensInput(
            *(part.to(device) for part in (lens_input.rows, lens_input.features, lens_input.end, lens_input.kinds))
        )
        with torch.no_grad():
            summands: Values = self.net.to(device)(lens_input).double().cpu().numpy()
        return summands


def _tail_gists(tree: LifetimeTree, until: int) -> torch.Tensor:
    """Return (k, d), k <= 1 + LATEST: the gists that condition the net at lifetime length `until`.

    The latest node of the highest level comes first, then the last level-1 gists from oldest to newest; (0, d) if there
    are none.
    """
    pieces = [torch.zeros(0, tree.model.card.width)]
    size = tree.block_size
    for level in range(tree.depth, 1, -1):
        if count := min(tree.count(level), until // size**level):
            pieces.append(tree.gists(level, count - 1, count))
            break
    if last := min(tree.count(1), until // size):
        pieces.append(tree.gists(1, max(0, last - LATEST), last))
    return torch.cat(pieces)


def _rows(context: WorkingContext, tree: LifetimeTree) -> torch.Tensor:
    """Return (N, d): each entry's gist; for a block its own level-1 gist, 0 for the open block."""
    rows = torch.zeros(len(context.entries()), tree.model.card.width)
    by_level: dict[int, list[tuple[int, int]]] = {}
    for place, entry in enumerate(context.entries()):
        level = max(1, entry.level)
        if entry.index < tree.count(level):
            by_level.setdefault(level, []).append((place, entry.index))
    for level, pairs in by_level.items():
        first = min(index for _, index in pairs)
        last = max(index for _, index in pairs)
        if last - first < 4 * len(pairs):  # neighbours, mostly: a single read
            gists = tree.gists(level, first, last + 1)
            rows[[place for place, _ in pairs]] = gists[[index - first for _, index in pairs]]
        else:
            for place, index in pairs:
                rows[place] = tree.gists(level, index, index + 1)[0]
    return rows


FORMAT = "amgs-lensnet-1"
FLOORS = "floors"
NAMED = ("attention", "search")
"""Names that the setting accepts; anything else is a path."""
_OTHERWISE = "Restore the file, or set focus.lens to search."
_ANOTHER = "Choose a checkpoint for this model, train a net, or set focus.lens to search."


def save_net(
    path: Path, net: LensNet, *, model: BaseModel, gist: str, training: Mapping[str, str] | None = None
) -> None:
    """Write a net to a file, in half precision."""
    weights = {
        f"net.{name}": value.detach().to("cpu", torch.float16).contiguous() for name, value in net.state_dict().items()
    }
    weights[FLOORS] = torch.tensor(astuple(SpreadFloors()), dtype=torch.float64)
    shape = json.dumps({**asdict(net.shape), "features": list(net.shape.features)})
    checkpoint_file.write(path, weights, {**(training or {}), "format": FORMAT, "gist": gist, "shape": shape}, model)


def load_checkpoint(path: Path, model: BaseModel) -> LensNetScorer:
    """Return the scorer that `save_net` wrote for this model. Its version is the CRC-32 of the weights and the floors.

    Raises CheckpointError when the file is missing, damaged, or was trained on another model or other features.
    """
    checkpoint = checkpoint_file.read(path, "lens checkpoint", _OTHERWISE)
    try:
        shape_fields = json.loads(checkpoint.metadata["shape"])
        shape = LensShape(**{**shape_fields, "features": tuple(shape_fields["features"])})
    except (KeyError, TypeError, ValueError) as error:
        raise CheckpointError(f"{path.name} is not a lens checkpoint.", way_out=_OTHERWISE) from error
    if shape.features != NAMES:
        raise CheckpointError(f"{path.name} uses other features than this version computes.", way_out="Train it again.")
    checkpoint.require_base(model, _ANOTHER, shape.width)
    net = LensNet(shape)
    try:
        net.load_state_dict(
            {n.removeprefix("net."): v.float() for n, v in checkpoint.weights.items() if n.startswith("net.")}
        )
    except RuntimeError as error:
        raise CheckpointError(
            f"The weights in {path.name} do not fit the shape it declares.", way_out=_OTHERWISE
        ) from error
    stored = checkpoint.weights.get(FLOORS)  # older files have no floors: use the defaults
    floors = SpreadFloors() if stored is None else SpreadFloors(*stored.tolist())
    return LensNetScorer(net, name=path.stem, version=checkpoint.version, floors=floors)


def find_scorer(model: BaseModel, lens: str = "attention", own: Path | None = None) -> FocusScorer:
    """Return the scorer that the setting `lens` names.

    `attention`: the LensNet trained on this model (recognised by its embeddings), else `search`. `search`: similarity
    to the question and the last tokens. Anything else: the path of a checkpoint.

    own: a folder of checkpoints, which take precedence over those that ship. Raises CheckpointError as
    `load_checkpoint` does.
    """
    if lens not in NAMED:
        return load_checkpoint(Path(lens).expanduser(), model)
    trained = checkpoint_file.find(model, FORMAT, own) if lens == "attention" else None
    return load_checkpoint(trained, model) if trained else TailSimilarity()
