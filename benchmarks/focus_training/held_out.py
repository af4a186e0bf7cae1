"""What a phase is judged by: NLL over the next H tokens at a fixed window, on texts kept apart, after and before.

Every phase meets the same windows with its module as it was, frozen, and as it is now. The difference window by
window, with a bootstrap interval, is its effect; where the interval holds 0 there is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import torch

from amgs_focus.errors import TextError
from amgs_focus.evaluation.gist import draw_offsets
from amgs_focus.evaluation.statistics import resampled
from amgs_focus.gist.gistnet import GistEncoder
from amgs_focus.lens.scoring import FocusScorer
from amgs_focus.model.base_model import BaseModel
from amgs_focus.protocols import PerfClock
from amgs_focus.settings import FocusSettings
from amgs_focus.training.corpus import TrainingCorpus
from amgs_focus.training.records import Effect
from benchmarks.focus_training.contexts import context_rows, following_nll, plain_rows, situation


@dataclass(frozen=True, slots=True)
class HeldOutResult:
    """One evaluation. mixed, plain: (n,) NLL in nats a token after the working context, and after as many raw tokens.

    telemetry: means over the windows, by the specification's names.
    """

    mixed: tuple[float, ...]
    plain: tuple[float, ...]
    telemetry: dict[str, float]

    @property
    def loss_at_h(self) -> float:
        return sum(self.mixed) / len(self.mixed)


class HeldOut:
    """Windows of texts that were kept apart, the same every time."""

    def __init__(
        self,
        corpus: TrainingCorpus,
        settings: FocusSettings,
        *,
        lifetime: int,
        windows: int,
        seed: int,
        half: Literal[0, 1],
        clock: PerfClock,
        batch: int = 4,
    ) -> None:
        """About `windows` windows of `lifetime` tokens and a horizon, spread over all parts by their length.

        half: of what each part keeps apart; one half decides when to stop, the other judges. Raises TextError when
        no part keeps enough apart.
        """
        need = lifetime + settings.horizon
        kept = [torch.tensor_split(part.validation, 2)[half] for part in corpus.parts]
        kept = [tokens for tokens in kept if len(tokens) >= need]
        if not kept:
            raise TextError(
                f"No text keeps the {2 * need} tokens apart that two validation windows need.",
                way_out="Raise a text's held_out share, or shorten contexts.lifetime.",
            )
        total = sum(map(len, kept))
        self._settings, self._clock, self._batch = settings, clock, batch
        self._windows: list[torch.Tensor] = []
        for number, tokens in enumerate(kept):
            share = max(1, round(windows * len(tokens) / total))
            offsets = draw_offsets(len(tokens), need, share, seed + number)
            self._windows += [tokens[at : at + need] for at in offsets]

    @torch.no_grad()
    def sit(
        self, model: BaseModel, gist: GistEncoder, scorer: FocusScorer, *, plain_too: bool = True
    ) -> HeldOutResult:
        """NLL of every window with these modules; without `plain_too` only of the working contexts."""
        began = self._clock.perf()
        mixed: list[float] = []
        plain: list[float] = []
        rows: list[tuple[float, float]] = []
        for first in range(0, len(self._windows), self._batch):
            taken = self._windows[first : first + self._batch]
            cases = [situation(model, gist, scorer, self._settings, tokens) for tokens in taken]
            mixed += following_nll(model, [context_rows(one) for one in cases], cases).mean(dim=1).tolist()
            if plain_too:
                plain += following_nll(model, [plain_rows(one) for one in cases], cases).mean(dim=1).tolist()
            rows += [(case.refocus.swap_rate, case.context.used / case.context.window) for case in cases]
        swaps, used = (sum(column) / len(rows) for column in zip(*rows, strict=True))
        telemetry = {
            "loss_at_h": sum(mixed) / len(mixed),
            "swap_rate": swaps,
            "token_budget_utilization": used,
            "latency_ms": (self._clock.perf() - began) * 1000 / len(self._windows),
        }
        return HeldOutResult(tuple(mixed), tuple(plain), telemetry)


def effect(phase: str, before: HeldOutResult, after: HeldOutResult, seed: int) -> Effect:
    """What a phase changed on the working contexts, and how much of it is more than it changed on raw tokens."""
    change = _difference(before.mixed, after.mixed, seed)
    beyond = _difference(
        [m - p for m, p in zip(before.mixed, before.plain, strict=True)],
        [m - p for m, p in zip(after.mixed, after.plain, strict=True)],
        seed,
    )
    return Effect(
        phase=phase,
        before=before.loss_at_h,
        after=after.loss_at_h,
        change=change,
        beyond_plain=beyond,
        windows=len(before.mixed),
        verdict="better" if change[2] < 0 else "worse" if change[1] > 0 else "no effect",
    )


def _difference(before: Sequence[float], after: Sequence[float], seed: int) -> tuple[float, float, float]:
    """Mean of after − before with the ends of its interval; windows are drawn, as there are few texts."""
    found = resampled(
        {"change": [b - a for a, b in zip(before, after, strict=True)]},
        lambda means: means["change"],
        seed=seed,
    )
    return found.mean, found.low, found.high
