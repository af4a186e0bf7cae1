"""Search a lifetime for the blocks that a question is about, by meaning, words and similar words; once per question.

Every block is ranked by its own vector, by the index of words, and by how rare its matches of similar words are. The
best are then scored sentence by sentence, because a sentence has one meaning and a block of 32 tokens cuts through
several; all blocks of a sentence are found together, so that nothing is cut at a border. For the best sentences the
frozen model itself computes how likely the question is after each.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from amgs_focus.gist import value_of
from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.model.base_model import BaseModel
from amgs_focus.options import ProgressCallback, SearchOptions, TextEncoder
from amgs_focus.records import Findings, FoundBlock, NodeRef
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.span_index import SpanIndex
from amgs_focus.window.working_context import Scores, aggregate

SHARED = 2  # directions common to all embeddings, which are removed
SAMPLE = 8192  # embeddings from which mean and directions are computed
ROUNDS = 16  # rounds of the orthogonal iteration that finds the directions
PIECE = 8192  # embeddings, or blocks, computed at a time
TOP = 255  # level of a cosine of 1; a cosine of 0 or less has level 0

Values = NDArray[np.float64]
Levels = NDArray[np.uint8]
Rows = NDArray[np.float32]


class SimilarWords:
    """Cosines of a model's input embeddings, less their mean and the directions common to all of them.

    Mu and Viswanath, "All-but-the-Top" (ICLR 2018): without this most pairs of words look alike.
    """

    def __init__(self, model: BaseModel) -> None:
        self._model = model
        vocabulary = model.card.vocabulary
        sample = self._embed_tokens(torch.linspace(0, vocabulary - 1, min(SAMPLE, vocabulary)).long())
        self._mean: Rows = sample.mean(axis=0)
        self._shared = _directions(sample - self._mean)
        self._worded = np.full(vocabulary, -1, np.int8)

    def match(self, words: Sequence[Sequence[int]], weights: Values, tree: LifetimeTree, blocks: int) -> WordMatches:
        """Return how well each word is matched in the first blocks.

        words: the tokens of each word. weights: (words,).
        """
        means = [self._embed_tokens(torch.tensor(list(word))).mean(axis=0) for word in words]
        word_vectors = self._unit(np.stack(means))
        levels = np.zeros((self._model.card.vocabulary, len(words)), np.uint8)
        for first in range(0, len(levels), PIECE):
            ids = torch.arange(first, min(len(levels), first + PIECE))
            cosines = self._unit(self._embed_tokens(ids)) @ word_vectors.T
            levels[first : first + len(ids)] = np.clip(np.rint(TOP * cosines), 0, TOP)
        return WordMatches(self, levels, weights, tree, blocks)

    def are_words(self, tokens: NDArray[np.uint32]) -> NDArray[np.bool_]:
        """Return whether each token begins with a letter or digit and is longer than one character."""
        for token in np.unique(tokens[self._worded[tokens] < 0]).tolist():
            text = self._model.decode([token]).strip()
            self._worded[token] = len(text) > 1 and text[0].isalnum()
        mask: NDArray[np.bool_] = self._worded[tokens] > 0
        return mask

    def _embed_tokens(self, ids: torch.Tensor) -> Rows:
        with torch.no_grad():
            rows: Rows = self._model.embed(ids).to("cpu", torch.float32).numpy()
        return rows

    def _unit(self, rows: Rows) -> Rows:
        """Return (n, d) centred rows without the common directions, each of length 1."""
        centred = rows - self._mean
        rest = centred - (centred @ self._shared) @ self._shared.T
        unit: Rows = rest / np.maximum(np.linalg.norm(rest, axis=1, keepdims=True), 1e-9)
        return unit


class WordMatches:
    """Matches of a question's words in the blocks of a lifetime, and their worth.

    blocks: (blocks,) the worth of each block, or of the window of its length shifted by half a block, whichever is
    greater, in standard deviations above the mean block.

    Words are alike as far as the frozen model's input embeddings are. The worth of a match is counted, not set: minus
    the logarithm of the share of the lifetime's windows in which the word is matched at least as well. So an exact
    match of a rare word counts most, and a faint match found in any passage counts nothing.
    """

    def __init__(self, words: SimilarWords, levels: Levels, weights: Values, tree: LifetimeTree, blocks: int) -> None:
        self._words, self._levels, self._tree = words, levels, tree
        halves = self._halves(blocks)
        windows = np.maximum(halves[:-1], halves[1:])
        seen = np.stack([np.bincount(column, minlength=TOP + 1) for column in windows.T])
        share = np.cumsum(seen[:, ::-1], axis=1)[:, ::-1] / len(windows)
        self._worth: Values = -np.log(np.maximum(share, 1 / len(windows))) * weights[:, None]
        around = np.zeros(len(halves) + 1)
        around[1:-1] = self._sum_levels(windows)
        worth = np.maximum.reduce([around[:-1:2], around[1::2], around[2::2]])
        self._mean, self._spread = float(worth.mean()), max(float(worth.std()), 1e-6)
        self.blocks: Values = (worth - self._mean) / self._spread

    def span(self, start: int, end: int) -> float:
        """Return the worth of tokens [start, end), in the units of `blocks`."""
        best = self._read(start, end).max(axis=0, initial=0)
        return (float(self._sum_levels(best[None])[0]) - self._mean) / self._spread

    def _halves(self, blocks: int) -> Levels:
        """Return (2 · blocks, words) the level of the best match in each half block."""
        size = self._tree.block_size
        levels = np.zeros((2 * blocks, self._levels.shape[1]), np.uint8)
        for first in range(0, blocks, PIECE):
            last = min(blocks, first + PIECE)
            read = self._read(first * size, last * size).reshape(last - first, size, -1)
            best = np.maximum.reduceat(read, [0, size // 2], axis=1)
            levels[2 * first : 2 * last] = best.reshape(2 * (last - first), -1)
        return levels

    def _read(self, start: int, end: int) -> Levels:
        """Return (tokens, words) the level at which each token matches each word; 0 for tokens that are no words."""
        tokens = self._tree.tokens(start, end)
        levels: Levels = self._levels[tokens] * self._words.are_words(tokens)[:, None]
        return levels

    def _sum_levels(self, levels: Levels) -> Values:
        """Return (n,) the summed worth of levels (n, words)."""
        total = np.zeros(len(levels))
        for worth, column in zip(self._worth, levels.T, strict=True):
            total += worth[column]
        return total


def words_of(model: BaseModel, text: str) -> list[list[int]]:
    """Return the words of a text as lists of tokens, encoded as within a sentence."""
    words: list[list[int]] = []
    inside = False
    for token in model.encode(f" {text}"):
        piece = model.decode([token])
        worded = piece.strip()[:1].isalnum()
        if worded and inside and not piece[:1].isspace():
            words[-1].append(token)
        elif worded:
            words.append([token])
        inside = worded
    return words


def _directions(rows: Rows) -> Rows:
    """Return (d, SHARED): the orthonormal directions in which rows (n, d) vary most."""
    directions = np.random.Generator(np.random.PCG64(0)).standard_normal((rows.shape[1], SHARED)).astype(np.float32)
    for _ in range(ROUNDS):
        directions, _ = np.linalg.qr(rows.T @ (rows @ directions))
    return directions


_ENDS = re.compile(r"[.!?][\"'”’)\]]*\s*$|\n\s*\n")

_DEFAULT = SearchOptions()


@dataclass(frozen=True, slots=True)
class QuestionCalibration:
    """A logistic regression, for a text encoder, of whether some block answers the question.

    base: intercept. meaning: weight of the greatest cosine among the sentences in the blocks nearest by meaning.
    blocks: weight of the binary logarithm of the blocks searched, as the best of many is better by chance.
    """

    base: float
    meaning: float
    blocks: float

    def likelihood(self, cosine: float, blocks: int) -> float:
        """Return the likelihood in [0, 1] for the greatest cosine among so many blocks."""
        odds = self.base + self.meaning * cosine + self.blocks * math.log2(max(1, blocks))
        return 1 / (1 + math.exp(-odds))


CALIBRATED: Mapping[str, QuestionCalibration] = {"all-MiniLM-L6-v2": QuestionCalibration(-6.2, 28.7, -0.37)}


class QuestionSearch:
    """Searches a runtime's lifetimes with a text encoder."""

    def __init__(self, encoder: TextEncoder, options: SearchOptions | None = None) -> None:
        self.encoder = encoder
        self.options = options or SearchOptions()
        self._index: SpanIndex | None = None
        self._similar: SimilarWords | None = None

    def sync(self, tree: LifetimeTree, progress: ProgressCallback | None = None) -> None:
        """Encode the blocks that have no vector yet."""
        tree.vectors.sync(tree, self.encoder, progress)

    def find(self, tree: LifetimeTree, question: str, end: int) -> Findings:
        """Return the whole blocks in tokens [0, end) that resemble the question; forgotten blocks are skipped."""
        key = tree.digest(), question, end, tree.catalogue.sealed, self.options, self.encoder.name
        findings = value_of(tree.model, key, lambda: self._search(tree, question, end))
        assert isinstance(findings, Findings)
        return findings

    def _search(self, tree: LifetimeTree, question: str, end: int) -> Findings:
        blocks = end // tree.block_size
        if not blocks or not question.strip():
            return Findings()
        question_vector = self.encoder.embed([question])[0]
        cosines = tree.vectors.cosines(question_vector, blocks).astype(np.float64)
        index = self._update_index(tree)
        words = self._words(tree, index, question, blocks)
        matches = self._matches(tree, index, question, blocks)
        similar = np.zeros(blocks) if matches is None else matches.blocks
        open_ = _open(tree, blocks)
        if not open_.any():
            return Findings()
        centre, spread = float(cosines[open_].mean()), max(float(cosines[open_].std()), 1e-6)
        options = self.options
        scores = self._score((cosines - centre) / spread, words, similar)
        by_meaning = _best(options.meaning * cosines, open_, options.by_meaning)
        best = np.union1d(by_meaning, _best(scores, open_, options.by_score))
        telling = _telling(tree)
        spans = sorted({span for block in best.tolist() for span in sentences(tree, block, end, options)})
        spans = [span for span in spans if any(low < span[1] and span[0] < high for low, high in telling)]
        texts = [tree.model.decode(tree.tokens(low, high).tolist()) for low, high in spans]
        read: list[tuple[float, str, list[FoundBlock]]] = []
        for (low, high), text, cosine in zip(
            spans, texts, (self.encoder.embed(texts) @ question_vector).tolist(), strict=True
        ):
            standing = [at for at in _blocks_of(low, high, tree.block_size) if at < blocks and open_[at]]
            share = max((float(words[at]) for at in standing), default=0.0)
            alike = 0.0 if matches is None else matches.span(low, high)
            score = float(self._score((cosine - centre) / spread, share, alike))
            read.append((score, text, [FoundBlock(at, score, share, cosine, alike) for at in standing]))
        hits: dict[int, FoundBlock] = {}
        for score, sentence_blocks in self._reread(tree.model, question, read):
            for candidate in sentence_blocks:
                if candidate.block not in hits or hits[candidate.block].score < score:
                    hits[candidate.block] = replace(candidate, score=score)
        ranked = sorted(hits.values(), key=lambda candidate: (-candidate.score, -candidate.block))
        chosen = {hit.block: hit for hit in ranked[: options.found]}
        for hit in tuple(chosen.values()):  # add its neighbours as far as its sentences reach
            edges = [edge for span in sentences(tree, hit.block, end, options) for edge in span]
            for at in _blocks_of(min(edges), max(edges), tree.block_size) if edges else ():
                if at < blocks and open_[at] and at not in chosen:
                    chosen[at] = hits.get(at, FoundBlock(at, hit.score, float(words[at]), float(cosines[at])))
        near = set(by_meaning.tolist())
        nearest = max(
            (
                candidate.meaning
                for _, _, sentence_blocks in read
                for candidate in sentence_blocks
                if candidate.block in near
            ),
            default=-1.0,
        )
        calibrated = CALIBRATED.get(self.encoder.name)
        return Findings(
            tuple(chosen.values()), calibrated.likelihood(nearest, int(open_.sum())) if calibrated else None
        )

    def _reread(
        self, model: BaseModel, question: str, read: Sequence[tuple[float, str, list[FoundBlock]]]
    ) -> Iterator[tuple[float, list[FoundBlock]]]:
        """Yield each sentence's score and blocks, best first; the best scores include the question's likelihood."""
        options = self.options
        ordered = sorted(read, key=lambda passage: -passage[0])
        best = ordered[: options.reread] if options.likelihood else []
        gains = question_likelihoods(model, [text for _, text, _ in best], question) if best else np.zeros(0)
        for (score, _, blocks), gain in zip(best, (gains - (gains.min() if len(gains) else 0.0)).tolist(), strict=True):
            yield score + options.likelihood * gain, blocks
        for score, _, blocks in ordered[len(best) :]:
            yield score, blocks

    def _score(self, meaning: Values | float, words: Values | float, similar: Values | float) -> Any:
        options = self.options
        return options.meaning * meaning + options.words * words + options.similar * similar

    def _update_index(self, tree: LifetimeTree) -> SpanIndex:
        """Return the up-to-date index of the lifetime's words."""
        if self._index is None or self._index.tree is not tree:
            self._index = SpanIndex(tree)
            self._similar = value_of(tree.model, SimilarWords, lambda: SimilarWords(tree.model))
        self._index.sync()
        return self._index

    def _matches(self, tree: LifetimeTree, index: SpanIndex, question: str, blocks: int) -> WordMatches | None:
        """Return the matches of words similar to the question's, weighted by rarity; None without words."""
        words = words_of(tree.model, question) if self.options.similar else []
        if not words or self._similar is None:
            return None
        weights = np.array([index.rarity(word).max() for word in words])
        return self._similar.match(words, weights, tree, blocks)

    @staticmethod
    def _words(tree: LifetimeTree, index: SpanIndex, question: str, blocks: int) -> Values:
        """Return (blocks,) the share of the question's words in each block."""
        tokens = tree.model.encode(question)
        holders, shares = index.search(index.query(tokens, [1.0] * len(tokens)))
        word_shares = np.zeros(blocks)
        inside = holders < blocks
        np.maximum.at(word_shares, holders[inside], shares[inside])
        return word_shares


def sentences(tree: LifetimeTree, block: int, end: int, options: SearchOptions = _DEFAULT) -> list[tuple[int, int]]:
    """Return tokens [start, stop) of each sentence that overlaps a block, found in the tokens around the block."""
    size = tree.block_size
    low, high = max(0, block * size - options.longest), min(end, (block + 1) * size + options.longest)
    pieces = [tree.model.decode([token]) for token in tree.tokens(low, high).tolist()]
    cuts = [0]
    for at, piece in enumerate(pieces, start=1):
        if (_ENDS.search(piece) and at - cuts[-1] >= options.shortest) or at - cuts[-1] >= options.longest:
            cuts.append(at)
    cuts += [len(pieces)] if cuts[-1] < len(pieces) else []
    spans = []
    for first, last in pairwise(cuts):
        while first < last and not pieces[first].strip():
            first += 1
        while first < last and not pieces[last - 1].strip():
            last -= 1
        if first < last and block in _blocks_of(low + first, low + last, size):
            spans.append((low + first, low + last))
    return spans


def _telling(tree: LifetimeTree) -> list[tuple[int, int]]:
    """Return the spans [start, end) that can answer a question.

    Questions are left out. Where any memory span has a name, so are memory spans without one: a frame's headings.
    """
    spans = [span for span in tree.spans() if span.kind != "question"]
    is_named = any(span.kind == "memory" and (span.source or span.label) for span in spans)
    return [
        (span.start, span.end)
        for span in spans
        if not is_named or span.source or span.label or span.kind == "generated"
    ]


def _blocks_of(low: int, high: int, size: int) -> range:
    """Return the blocks that overlap tokens [low, high)."""
    return range(low // size, -(-high // size))


def _best(scores: Values, allowed: NDArray[np.bool_], most: int) -> NDArray[np.int64]:
    """Return the allowed blocks with the greatest scores; of equal ones the latest."""
    at = np.flatnonzero(allowed)
    chosen: NDArray[np.int64] = at[np.lexsort((-at, -scores[at]))[:most]]
    return chosen


def _open(tree: LifetimeTree, blocks: int) -> NDArray[np.bool_]:
    """Return (blocks,) whether a block's tokens may be shown."""
    shown = np.ones(blocks, bool)
    for run in tree.catalogue.sealed.runs:
        width = tree.block_size ** (run.level - 1) if run.level else 1
        shown[run.first * width : run.stop * width] = False
    return shown


BATCH = 16  # passages read at a time, of similar length
ASK = "Write a question that this text answers:\n"


def question_likelihoods(model: BaseModel, passages: Sequence[str], question: str) -> NDArray[np.float64]:
    """Return (passages,) log p(question | passage) in nats, summed over the question's tokens."""
    question_ids = model.encode(question)
    read = [[*model.encode(model.turn(f"{ASK}{passage}")), *question_ids] for passage in passages]
    likelihoods = np.zeros(len(read))
    order = np.argsort([len(ids) for ids in read], kind="stable")
    for first in range(0, len(order), BATCH):
        places = order[first : first + BATCH].tolist()
        likelihoods[places] = _batch(model, [read[at] for at in places], len(question_ids))
    return likelihoods


def _batch(model: BaseModel, rows: Sequence[Sequence[int]], asked: int) -> list[float]:
    """Return the log-likelihood of the last `asked` tokens of each row."""
    longest = max(len(row) for row in rows)
    ids = torch.tensor(
        [[*row, *[0] * (longest - len(row))] for row in rows]
    )  # padding comes last, where a causal model does not see it
    with torch.no_grad():
        hidden = model.forward(model.embed(ids))
        states = [hidden[at, len(row) - asked - 1 : len(row) - 1] for at, row in enumerate(rows)]
        logits = model.logits(torch.cat(states))
        targets = torch.tensor([token for row in rows for token in row[-asked:]], device=logits.device)
        log_probs = torch.log_softmax(logits, dim=-1).gather(1, targets[:, None])
        summed: list[float] = log_probs.view(len(rows), asked).double().sum(dim=1).tolist()
    return summed


class QuestionScorer:
    """Adds a part `question` to another scorer's scores, from the blocks that a search found.

    It has the name and version of the inner scorer, because findings belong to the state.
    """

    def __init__(self, inner: FocusScorer, options: SearchOptions) -> None:
        self.inner = inner
        self._first, self._last = options.first, options.last

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def version(self) -> int:
        return self.inner.version

    def score(self, view: LensView) -> Scores:
        scores = self.inner.score(view)
        blocks = () if view.findings is None else view.findings.blocks
        entries = view.context.entries()
        if not blocks or not entries:
            return scores
        values = aggregate(view.context, scores.values)
        wanted = np.minimum(values, 0.0)
        size, step = view.tree.block_size, (self._first - self._last) / len(blocks)
        inside: dict[NodeRef, float] = {}
        for rank in range(len(blocks) - 1, -1, -1):  # the best last, so that its score is kept
            place = view.context.covering(blocks[rank].block * size)
            if place is not None and entries[place].end <= view.context.tail_start:
                wanted[place] = self._first - step * rank
                if entries[place].level > 1:
                    inside[NodeRef(1, blocks[rank].block)] = self._first - step * rank
        # Set the total instead of adding a difference, whose rounding near 0 varies between processors.
        total = np.repeat(np.clip(wanted, -1.0, 1.0), [entry.cost for entry in entries])
        return replace(scores, values=total, parts={**scores.parts, "question": total - scores.values}, inside=inside)
