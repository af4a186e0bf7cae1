"""How much of a replaced span a gist gives back, measured on the next tokens beside everything it must beat.

Gap recovered = (drop − gist) / (drop − full), in nats a token. Gists of any other place win much of that by telling
the kind of text; what is due to the block itself is the content share, (shuffled − gist) / (shuffled − full). Four
sinks open every variant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from amgs_focus.errors import TextError
from amgs_focus.gist import BLOCK, GistEncoder, pointer_gist
from amgs_focus.model.base_model import BaseModel
from benchmarks.focus_evaluation.statistics import Interval, Means, resampled
from benchmarks.focus_training.gist_objective import span_gists
from benchmarks.focus_training.gistnet import draw_offsets, elsewhere, horizon_nll

VARIANTS = ("full", "drop", "sinks", "mean", "pointer", "recent", "gist")
CONTROLS = ("shuffled", "other", "constant")
"""Gists that know nothing of the block: of another place of the same text, of another text, one vector everywhere."""
CONSTANT_BLOCKS = 256  # of a text, for the mean of its gists


@dataclass(frozen=True, slots=True)
class GistControls:
    """What is put in the place of the right gists. shuffled, other: (B, span) ids of another place of the same text and
    of another text, whose gists are taken. constant: (d,).
    """

    shuffled: torch.Tensor | None = None
    other: torch.Tensor | None = None
    constant: torch.Tensor | None = None


@dataclass(frozen=True, slots=True)
class GistReport:
    """Per-window NLLs in nats a token, by variant, and what follows from them.

    groups: the document of each window; intervals are drawn by document where there are several.
    """

    blocks: int
    tail: int
    horizon: int
    level: int
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

    def content_share(self, control: str = "shuffled") -> Interval | None:
        """(control − gist) / (control − full): what the gists give back that those of the control do not, or None where
        the interval of control − full holds zero.
        """
        if self._resampled(lambda rows: rows[control] - rows["full"]).low <= 0:
            return None
        return self._resampled(lambda rows: (rows[control] - rows["gist"]) / (rows[control] - rows["full"]))

    def content(self, control: str = "shuffled") -> Interval:
        """control − gist, in nats a token: above zero, the right gists beat those of the control."""
        return self._resampled(lambda rows: rows[control] - rows["gist"])

    def of_group(self, group: int) -> GistReport | None:
        """The windows of one document alone, or None where it has none."""
        taken = [place for place, of in enumerate(self.groups or ()) if of == group]
        if not taken:
            return None
        return replace(
            self,
            offsets=tuple(self.offsets[place] for place in taken),
            nll={name: tuple(values[place] for place in taken) for name, values in self.nll.items()},
            groups=None,
        )

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
    other: Sequence[int] | None = None,
    constant: torch.Tensor | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> GistReport:
    """Replaces `blocks` spans of 32**level tokens by their gists, in `windows` places drawn with `seed`.

    After the gists come `tail` raw blocks of 32, then the horizon is scored with teacher forcing. "recent"
    spends the gists' entries on the raw tokens just before the tail; "sinks" has neither gists nor tail.
    other: ids of another text, for the variant "other". constant: (d,), for the variant
    "constant"; without it the mean of the text's gists. Raises TextError when the text cannot hold one window, or not
    a shuffled span beside it, or when "other" has no text.
    """
    span = blocks * BLOCK**level
    need = span + tail * BLOCK + horizon
    offsets = draw_offsets(len(tokens), need, windows, seed)
    text = torch.tensor(tokens, dtype=torch.int64)
    if "constant" in variants and constant is None:
        constant = constant_gist(model, encoder, tokens, level=level)
    nll: dict[str, list[float]] = {name: [] for name in variants}
    for start in range(0, len(offsets), batch):
        some = offsets[start : start + batch]
        controls = GistControls(
            shuffled=torch.stack([elsewhere(tokens, at, need, span, seed) for at in some])
            if "shuffled" in variants
            else None,
            other=torch.stack([elsewhere(other, at, 0, span, seed) for at in some])
            if "other" in variants and other is not None
            else None,
            constant=constant,
        )
        measured = variant_nll(
            model,
            encoder,
            torch.stack([text[at : at + need] for at in some]),
            span=span,
            horizon=horizon,
            level=level,
            variants=variants,
            controls=controls,
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
    controls: GistControls | None = None,
) -> dict[str, list[float]]:
    """(B, span + tail + horizon) ids -> by variant (B,) NLLs of the horizon, in nats a token.

    Raises TextError for a control that is asked for and has nothing to put in the gists' place.
    """
    with torch.no_grad():
        prefixes = _Prefixes(model, encoder, taken[:, :-horizon], span, level, controls or GistControls())
        return {
            name: horizon_nll(model, prefixes.prefix(name), taken[:, -horizon:]).mean(dim=1).tolist()
            for name in variants
        }


def constant_gist(model: BaseModel, encoder: GistEncoder, tokens: Sequence[int], *, level: int = 1) -> torch.Tensor:
    """(d,): the mean of the gists of blocks spread evenly over a text.

    Raises TextError when it has not one span of that level.
    """
    size = BLOCK**level
    whole = len(tokens) // size
    if not whole:
        raise TextError(f"The text has {len(tokens)} tokens and one gist needs {size}.", way_out="Give a longer text.")
    taken = np.linspace(0, whole - 1, min(whole, max(1, CONSTANT_BLOCKS * BLOCK // size))).astype(int)
    spans = torch.tensor([tokens[place * size : (place + 1) * size] for place in taken], dtype=torch.int64)
    with torch.no_grad():
        return span_gists(encoder, model.embed(spans), spans, level).mean(dim=(0, 1))


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


class _Prefixes:
    """(B, span + tail) ids; what stands before the horizon, by variant."""

    def __init__(
        self, model: BaseModel, encoder: GistEncoder, taken: torch.Tensor, span: int, level: int, controls: GistControls
    ) -> None:
        self._model, self._encoder, self._level, self._controls = model, encoder, level, controls
        self._ids = taken[:, :span]
        rows = model.embed(taken)
        self._replaced, self._tail = rows[:, :span], rows[:, span:]
        self._sinks = model.embed(torch.tensor([model.sinks()], device=rows.device)).expand(taken.shape[0], -1, -1)

    def prefix(self, variant: str) -> torch.Tensor:
        """(B, W, d): the sinks, the variant's entries and the tail."""
        if variant == "sinks":
            return self._sinks
        return torch.cat([self._sinks, self._middle(variant), self._tail], dim=1)

    def _middle(self, variant: str) -> torch.Tensor:
        """(B, n, d): what stands for the span."""
        replaced = self._replaced
        batch, span, width = replaced.shape
        size = BLOCK**self._level
        match variant:
            case "full":
                return replaced
            case "drop":
                return replaced[:, :0]
            case "mean":
                return replaced.reshape(batch, -1, size, width).mean(dim=2)
            case "pointer":
                return pointer_gist(replaced.reshape(-1, size, width)).reshape(batch, -1, width)
            case "recent":
                return replaced[:, -(span // size) :]
            case "gist":
                return self._gists(self._ids)
            case "shuffled" | "other":
                ids = self._controls.shuffled if variant == "shuffled" else self._controls.other
                return self._gists(_given(ids, variant))
            case "constant":
                constant = _given(self._controls.constant, variant).to(replaced)
                return constant.expand(batch, span // size, width)
            case _:
                raise ValueError(f"No variant {variant!r}: {', '.join((*VARIANTS, *CONTROLS))}.")

    def _gists(self, ids: torch.Tensor) -> torch.Tensor:
        return span_gists(self._encoder, self._model.embed(ids), ids, self._level)


def _given(value: torch.Tensor | None, control: str) -> torch.Tensor:
    if value is None:
        raise TextError(
            f"The control {control!r} has nothing to put in the place of the gists.",
            way_out="Give it a text, or leave the variant out.",
        )
    return value
