"""What every bench of the focus engine is given: models, scorers, texts, a folder for its rows, a clock.

Places in a text where the engine is measured: a lifetime that ends there, and the tokens that came next.

Lifetimes that a bench builds once and keeps on disk: their gists take minutes, asking takes seconds.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from amgs_focus.gist.gistnet import GistEncoder
from amgs_focus.lens.question_search import QuestionSearch
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.protocols import PerfClock, ProgressCallback
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.utility import LabelSnapshot
from amgs_focus.window.layout import spread
from amgs_focus.window.working_context import WorkingContext
from benchmarks.bench_results import Bench, Rig, Stopwatch
from benchmarks.focus_texts import TokenCorpus
from benchmarks.ledger import Ledger


def lifetime_of(
    model: BaseModel,
    gist: GistEncoder,
    tokens: Sequence[int],
    settings: FocusSettings,
    progress: ProgressCallback | None = None,
) -> LifetimeTree:
    """A lifetime in memory that holds the tokens."""
    tree = LifetimeTree(model, gist, block_size=settings.block_size)
    tree.append(tokens, progress=progress)
    return tree


def snapshot_of(
    model: BaseModel,
    gist: GistEncoder,
    tokens: Sequence[int],
    horizon: int,
    settings: FocusSettings,
    progress: ProgressCallback | None = None,
) -> LabelSnapshot:
    """Gists all over the lifetime without the last `horizon` tokens, which are its future; the part of the
    window that `focus_share` names is free.
    """
    tree = lifetime_of(model, gist, tokens[:-horizon], settings, progress)
    return LabelSnapshot(_gists_all_over(tree, settings), tree, tuple(tokens[-horizon:]))


def asked_snapshot_of(
    model: BaseModel,
    gist: GistEncoder,
    tokens: Sequence[int],
    question: str,
    answer: str,
    settings: FocusSettings,
) -> LabelSnapshot:
    """As `snapshot_of`, of all the tokens with a question after them; its future is the answer, up to `horizon`
    tokens of it.
    """
    tree = lifetime_of(model, gist, tokens, settings)
    tree.append(model.encode(model.turn(question)))
    future = tuple(model.encode(answer)[: settings.horizon])
    return LabelSnapshot(_gists_all_over(tree, settings), tree, future, tuple(model.encode(question)))


def _gists_all_over(tree: LifetimeTree, settings: FocusSettings) -> WorkingContext:
    headroom = settings.cadence + int(settings.focus_share * settings.window)
    return spread(tree, settings.window, settings.tail_blocks, headroom=headroom)


@dataclass(frozen=True, kw_only=True)
class FocusRig(Rig):
    """scorers: the one that is measured first. corpora: () for a bench that reads files of its own. out: the folder of
    the measured rows. search: what questions are looked up with, None where the scorer alone reads them. quick: a short
    run on a fraction of the places.
    """

    model: BaseModel
    encoder: GistEncoder
    scorers: Sequence[FocusScorer]
    corpora: Sequence[TokenCorpus]
    out: Path
    search: QuestionSearch | None = None
    quick: bool = False
    clock: PerfClock = field(default_factory=Stopwatch)

    @property
    def scorer(self) -> FocusScorer:
        return self.scorers[0]

    @property
    def corpus(self) -> TokenCorpus:
        return self.corpora[0]

    @cached_property
    def text(self) -> tuple[int, ...]:
        """The tokens of all documents of the corpus, one after another."""
        return tuple(token for document in self.corpus.documents for token in document)

    def models(self) -> dict[str, Any]:
        """The language model and the gists, by what tells them from others."""
        card = self.model.card
        return {
            "model": card.name,
            "precision": card.precision,
            "gist": self.encoder.name,
            "gist_version": self.encoder.version,
        }

    def parts(self) -> dict[str, Any]:
        """The models, the measured scorer and the text, by what tells them from others."""
        scorer = {"scorer": self.scorer.name, "scorer_version": self.scorer.version}
        return {**self.models(), **scorer, **self._text()}

    def searching(self) -> dict[str, str]:
        """What questions are looked up with, by what tells it from others; nothing where they are not."""
        return {} if self.search is None else {"text_encoder": self.search.encoder.name}

    def parts_with(self, scorers: Iterable[FocusScorer]) -> dict[str, Any]:
        """The models, several scorers and the text, by what tells them from others."""
        named = [f"{scorer.name} {scorer.version}" for scorer in scorers]
        return {**self.models(), "scorers": named, **self._text()}

    def ledger(self, bench: Bench, settings: dict[str, Any]) -> Ledger:
        """The rows of a bench with these settings. Raises InputError when its file cannot be written."""
        return Ledger(self.out, bench.name, settings)

    def lifetime(self, tokens: Sequence[int], settings: FocusSettings) -> LifetimeTree:
        """The tokens as a lifetime in memory; the caller closes it."""
        return lifetime_of(self.model, self.encoder, tokens, settings)

    def _text(self) -> dict[str, str]:
        return {"text": f"{self.corpus.name} {self.corpus.mark}"} if self.corpora else {}


STEP = 16_384
"""Tokens a step of building: a build that was cut short goes on from the last whole one."""


def kept_lifetime(rig: FocusRig, name: str, tokens: Sequence[int], block_size: int) -> LifetimeTree:
    """The lifetime of these tokens, built as far as it was not yet. Raises CtxError as the tree does."""
    card, encoder, mark = rig.model.card, rig.encoder, rig.corpus.mark
    told = f"{card.name}|{card.precision}|{encoder.version}|{encoder.slots}|{mark}|{block_size}|{name}"
    place = rig.out / "lifetimes" / f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:10]}"
    place.parent.mkdir(parents=True, exist_ok=True)
    tree = LifetimeTree.open(place, rig.model, encoder, block_size=block_size, mend=True)
    try:
        if tree.length > len(tokens) or not np.array_equal(
            tree.tokens(0, tree.length), np.asarray(tokens[: tree.length], np.uint32)
        ):
            tree.truncate(0)
        for start in range(tree.length, len(tokens), STEP):
            rig.progress(start, len(tokens), f"gists of {name}")
            tree.append(tokens[start : start + STEP])
    except BaseException:
        tree.close()
        raise
    return tree
