"""The gap that a net in training recovers, on the texts kept apart."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from amgs_focus.evaluation.gist import gap_recovered
from amgs_focus.gist.gistnet import BLOCK, GistEncoder, GistNet, GistNetEncoder
from amgs_focus.model.base_model import BaseModel
from amgs_focus.training.corpus import TrainingCorpus
from amgs_focus.training.data_parallel import SINGLE, DataParallel
from amgs_focus.training.gist_plan import GistTraining


class GistEvaluator:
    """Measures the gap recovered on what was kept apart; full and drop are measured once.

    Parallel workers share the texts among themselves.
    """

    CONDITIONS: Sequence[tuple[int, int, int]] = ((2, 0, 32), (4, 1, 64))

    def __init__(
        self,
        settings: GistTraining,
        corpus: TrainingCorpus,
        model: BaseModel,
        lower: GistEncoder | None,
        parallel: DataParallel = SINGLE,
    ) -> None:
        self._settings = settings
        self._parallel = parallel
        kept = [part for part in corpus.parts if len(part.validation)]
        self._parts = kept[parallel.rank :: parallel.count]
        self._model = model
        self._lower = lower
        self._known: dict[tuple[str, int], dict[str, float]] = {}

    def evaluate(self, net: GistNet) -> dict[str, float]:
        """Metric name -> share of the gap, content share (level 1), or nats of harm (level 2)."""
        net.eval()
        settings = self._settings
        lower = self._lower or GistNetEncoder(net, net, name="training", version=1, model=self._model)
        encoder = _Stacked(lower, net) if settings.level > 1 else lower
        conditions = self.CONDITIONS if settings.level == 1 else ((1, 0, 32), (1, 1, 64))
        read = ("gist", "shuffled") if settings.level == 1 else ("gist",)
        found: dict[str, float] = {}
        for part in self._parts:
            for blocks, tail, horizon in conditions:
                need = blocks * BLOCK**settings.level + tail * BLOCK + horizon
                if len(part.validation) < 2 * need:
                    continue
                key = (part.name, tail)
                fresh = key not in self._known
                report = gap_recovered(
                    self._model,
                    encoder,
                    part.validation.tolist(),
                    blocks=blocks,
                    tail=tail,
                    horizon=horizon,
                    windows=max(4, settings.validation_windows // (1 + tail)),
                    seed=settings.seed,
                    level=settings.level,
                    variants=("full", "drop", *read) if fresh else read,
                )
                means = {name: sum(nll) / len(nll) for name, nll in report.nll.items()}
                if fresh:
                    self._known[key] = means
                base = self._known[key]
                gap = base["drop"] - base["full"]
                label = f"{part.name}_{blocks}_{tail}_{horizon}"
                if "shuffled" in means and means["shuffled"] > base["full"]:
                    content = means["shuffled"] - means["gist"]
                    found[f"content_{label}"] = content / (means["shuffled"] - base["full"])
                found[f"harm_{label}"] = means["gist"] - base["drop"]
                if gap > 0:
                    found[f"recovered_{label}"] = (base["drop"] - means["gist"]) / gap
        return self._parallel.gather(found)


class _Stacked:
    """A trained lower encoder with the net in training above it."""

    def __init__(self, lower: GistEncoder, net: GistNet) -> None:
        self._lower = lower
        self._upper = GistNetEncoder(net, net, name="training", version=1)
        self.name, self.version, self.slots = "training", 1, lower.slots

    def encode_tokens(self, embeddings: torch.Tensor, tokens: torch.Tensor) -> torch.Tensor:
        """(B, 32, d), (B, 32) -> (B, slots, d)."""
        return self._lower.encode_tokens(embeddings, tokens)

    def encode_gists(self, gists: torch.Tensor) -> torch.Tensor:
        """(B, n, d) -> (B, slots, d)."""
        return self._upper.encode_gists(gists)
