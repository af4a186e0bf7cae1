"""What every bench of the focus engine is given: models, scorers, texts, a folder for its rows, a clock."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from amgs_focus.gist.gistnet import GistEncoder
from amgs_focus.lens.question_search import QuestionSearch
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.protocols import PerfClock
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from benchmarks.focus_evaluation.places import lifetime_of
from benchmarks.focus_texts import TokenCorpus
from benchmarks.frame import Bench
from benchmarks.ledger import Ledger
from benchmarks.rig import Rig, Stopwatch


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
