"""How much of a replaced span a gist gives back, measured on the next tokens beside everything it must beat.

Gap recovered = (drop − gist) / (drop − full), in nats a token. Four sinks open every variant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from amgs_focus.errors import TextError
from amgs_focus.evaluation.statistics import Interval, Means, resampled
from amgs_focus.gist.gistnet import BLOCK, GistEncoder, mean_gist, pointer_gist
from amgs_focus.model.base_model import BaseModel

VARIANTS = ("full", "drop", "sinks", "mean", "pointer", "recent", "gist")
CONTROLS = ("shuffled",)
"""What only a batch of several windows can give: each window with the gists of the window before it in the batch. What
these recover too is no memory of the block.
"""


@dataclass(frozen=True, slots=True)
class GistReport:
    """Per-window NLLs in nats a token, by variant, and what follows from them.

    groups: the document of each window; intervals are drawn by document where there are several.
    """

    blocks: int
    tail: int
    horizon: int
    level: int
    slots: int
    seed: int
    offsets: tuple[int, ...]
    nll: Mapping[str, tuple[float, ...]]
    groups: tuple[int, ...] | None = None

    def mean(self, variant: str) -> Interval:
        """The NLL of one variant."""
        return self._resampled(lambda rows: rows[variant])

    def gap(self) -> Interval:
        """drop − full: what the span is worth to the model, in nats a token."""
        return self._resampled(lambda rows: rows["drop"] - rows["full"])

    def harm(self, variant: str = "gist") -> Interval:
        """variant − drop: above zero, the gist is worse than nothing."""
        return self._resampled(lambda rows: rows[variant] - rows["drop"])

    def recovered(self, variant: str = "gist") -> Interval | None:
        """The share of the gap that the variant gives back, or None where the gap's interval holds zero."""
        if self.gap().low <= 0:
            return None
        return self._resampled(lambda rows: (rows["drop"] - rows[variant]) / (rows["drop"] - rows["full"]))

    def _resampled(self, statistic: Callable[[Means], NDArray[np.float64]]) -> Interval:
        return resampled(self.nll, statistic, seed=self.seed, groups=self.groups)


def gap_recovered(
    model: BaseModel,
    encoder: GistEncoder,
    tokens: Sequence[int],
    *,
    blocks: int,
    tail: int,
    horizon: int,
    windows: int,
    seed: int,
    level: int = 1,
    batch: int = 16,
    variants: Sequence[str] = VARIANTS,
    progress: Callable[[int, int], None] | None = None,
) -> GistReport:
    """Replaces `blocks` spans of 32**level tokens by their gists, in `windows` places drawn with `seed`.

    After the gists come `tail` raw blocks of 32, then the horizon is scored with teacher forcing. "recent"
    spends the gists' entries on the raw tokens just before the tail; "sinks" has neither gists nor tail.
    Raises TextError when the text cannot hold one window.
    """
    span = blocks * BLOCK**level
    need = span + tail * BLOCK + horizon
    offsets = draw_offsets(len(tokens), need, windows, seed)
    text = torch.tensor(tokens, dtype=torch.int64)
    nll: dict[str, list[float]] = {name: [] for name in variants}
    for start in range(0, len(offsets), batch):
        taken = torch.stack([text[at : at + need] for at in offsets[start : start + batch]])
        measured = variant_nll(
            model, encoder, taken, span=span, horizon=horizon, level=level, variants=variants
        )
        for name, values in measured.items():
            nll[name].extend(values)
        if progress is not None:
            progress(min(start + batch, len(offsets)), len(offsets))
    return GistReport(
        blocks=blocks,
        tail=tail,
        horizon=horizon,
        level=level,
        slots=encoder.slots,
        seed=seed,
        offsets=tuple(offsets),
        nll={name: tuple(values) for name, values in nll.items()},
    )


def variant_nll(
    model: BaseModel,
    encoder: GistEncoder,
    taken: torch.Tensor,
    *,
    span: int,
    horizon: int,
    level: int = 1,
    variants: Sequence[str] = VARIANTS,
) -> dict[str, list[float]]:
    """(B, span + tail + horizon) ids -> by variant (B,) NLLs of the horizon, in nats a token."""
    with torch.no_grad():
        return {
            name: horizon_nll(model, prefix, taken[:, -horizon:]).mean(dim=1).tolist()
            for name, prefix in _prefixes(model, encoder, taken[:, :-horizon], span, level)
            if name in variants
        }


def draw_offsets(length: int, need: int, windows: int, seed: int) -> list[int]:
    """Sorted window starts, one in each of `windows` equal parts of the text, drawn with `seed`."""
    room = length - need
    if room < 0:
        raise TextError(
            f"The text has {length} tokens and one window needs {need}.", way_out="Give a longer text."
        )
    generator = torch.Generator().manual_seed(seed)
    places = (torch.arange(windows) + torch.rand(windows, generator=generator)) / windows
    return sorted({min(room, math.floor(float(place) * (room + 1))) for place in places})


def draw_windows(lengths: Sequence[int], need: int, windows: int, seed: int) -> list[tuple[int, int]]:
    """(document, offset) of window starts spread evenly over all documents long enough, drawn with `seed`."""
    room = [max(0, length - need + 1) for length in lengths]
    ends = np.cumsum(room)
    if not len(ends) or ends[-1] == 0:
        raise TextError(f"No text has the {need} tokens that one window needs.", way_out="Give longer texts.")
    places = draw_offsets(int(ends[-1]) - 1 + need, need, windows, seed)
    documents = np.searchsorted(ends, places, side="right")
    return [
        (int(document), int(place - ends[document] + room[document]))
        for document, place in zip(documents, places, strict=True)
    ]


def span_gists(
    encoder: GistEncoder, rows: torch.Tensor, tokens: torch.Tensor, level: int = 1
) -> torch.Tensor:
    """(B, n * 32**level, d) rows and their ids -> (B, n * slots, d) gists of that level, in order."""
    batch, length, width = rows.shape
    gists = encoder.encode_tokens(rows.reshape(-1, BLOCK, width), tokens.reshape(-1, BLOCK))
    for _ in range(level - 1):
        gists = encoder.encode_gists(gists.reshape(-1, BLOCK * encoder.slots, width))
    return gists.reshape(batch, length // BLOCK**level * encoder.slots, width)


def horizon_nll(model: BaseModel, prefix: torch.Tensor, horizon: torch.Tensor) -> torch.Tensor:
    """(B, P, d) entries, (B, H) ids that follow -> (B, H) NLL in nats."""
    batch, length = horizon.shape
    hidden = model.forward(torch.cat([prefix, model.embed(horizon[:, :-1])], dim=1))
    logits = model.logits(hidden[:, -length:].reshape(batch * length, -1))
    chosen = logits.gather(1, horizon.reshape(-1, 1).to(logits.device))[:, 0]
    return (logits.logsumexp(dim=-1) - chosen).view(batch, length)


def _prefixes(
    model: BaseModel, encoder: GistEncoder, taken: torch.Tensor, span: int, level: int
) -> list[tuple[str, torch.Tensor]]:
    """(B, span + tail) ids -> each variant's entries (B, W, d)."""
    batch = taken.shape[0]
    rows = model.embed(taken)
    sinks = model.embed(torch.tensor([model.sinks()], device=rows.device)).expand(batch, -1, -1)
    replaced, tail = rows[:, :span], rows[:, span:]
    gists = span_gists(encoder, replaced, taken[:, :span], level)
    parts = replaced.reshape(-1, BLOCK**level, rows.shape[-1])
    controls = {
        "full": replaced,
        "drop": replaced[:, :0],
        "mean": mean_gist(parts, encoder.slots).reshape(batch, -1, rows.shape[-1]),
        "pointer": pointer_gist(parts, encoder.slots).reshape(batch, -1, rows.shape[-1]),
        "recent": replaced[:, -gists.shape[1] :],
        "gist": gists,
        "shuffled": gists.roll(1, dims=0),
    }
    built = [(name, torch.cat([sinks, middle, tail], dim=1)) for name, middle in controls.items()]
    return [*built, ("sinks", sinks)]
