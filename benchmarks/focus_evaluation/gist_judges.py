"""Judges of another way to make gists, each beside the gists that ship: what follows, the content, planted facts.

Every block's gist is made from that block alone, so that it could ship, and is judged on the text that really follows.
A way may win the first judge by telling the kind of text better; the second asks what only the right gists add, and the
third for one word that only the block says.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from amgs_focus.gist.gistnet import BLOCK, GistEncoder, span_gists
from amgs_focus.gist.polish import TOGETHER, PolishPlan, polished
from amgs_focus.model.base_model import BaseModel
from benchmarks.focus_evaluation.needles import Needle, needle_nll
from benchmarks.focus_evaluation.statistics import Interval, resampled
from benchmarks.focus_training.gistnet import horizon_nll

READ = ("full", "drop", "gist", "shuffled", "other way", "other way, shuffled")
"""What stands for the blocks: their tokens, nothing, the gists that ship and those of another window, and both of the
other way.
"""
ASKED = ("tokens", "gist", "other way")


class GistWay(Protocol):
    """A way to make gists. name: with all that decides what it makes."""

    @property
    def name(self) -> str: ...

    def gists(self, blocks: torch.Tensor) -> torch.Tensor:
        """(B, 32) ids, each block's neighbours in the batch beside it -> (B, slots, d)."""
        ...


@dataclass(frozen=True, slots=True)
class EncodedWay:
    """Another encoder, such as a checkpoint."""

    model: BaseModel
    encoder: GistEncoder

    @property
    def name(self) -> str:
        return f"{self.encoder.name} {self.encoder.version}"

    def gists(self, blocks: torch.Tensor) -> torch.Tensor:
        """(B, 32) ids -> (B, slots, d)."""
        return self.encoder.encode_tokens(self.model.embed(blocks), blocks)


@dataclass(frozen=True, slots=True)
class PolishedWay:
    """The gists of an encoder, polished, as a way to make gists."""

    model: BaseModel
    encoder: GistEncoder
    plan: PolishPlan

    @property
    def name(self) -> str:
        return f"polished {self.plan}"

    def gists(self, blocks: torch.Tensor) -> torch.Tensor:
        """(B, 32) ids -> (B, slots, d); the block before and the one after it in the batch are its neighbours."""
        begun = self.encoder.encode_tokens(self.model.embed(blocks), blocks)
        neighbours = begun.roll(1, dims=0), begun.roll(-1, dims=0)
        parts = [slice(at, at + TOGETHER) for at in range(0, len(blocks), TOGETHER)]
        return torch.cat(
            [
                polished(self.model, blocks[part], begun[part], tuple(n[part] for n in neighbours), self.plan)[0]
                for part in parts
            ]
        )


def window_nll(
    model: BaseModel, shipped: GistEncoder, way: GistWay, windows: torch.Tensor, *, span: int, horizon: int
) -> dict[str, list[float]]:
    """(B, span + tail + horizon) ids -> by what is read (`READ`) the mean NLL of each horizon, in nats a token.

    Shuffled are the gists of the window before, so that B is at least 2.
    """
    count = len(windows)
    made = way.gists(windows[:, :span].reshape(-1, BLOCK))
    with torch.no_grad():
        rows = model.embed(windows[:, :-horizon])
        own = span_gists(shipped, rows[:, :span], windows[:, :span])
        other = made.to(rows).reshape(count, -1, rows.shape[-1])
        sinks = model.embed(torch.tensor(model.sinks())).expand(count, -1, -1)
        middles = (rows[:, :span], rows[:, :0], own, own.roll(1, dims=0), other, other.roll(1, dims=0))
        return {
            name: horizon_nll(model, torch.cat([sinks, middle, rows[:, span:]], dim=1), windows[:, -horizon:])
            .mean(dim=1)
            .tolist()
            for name, middle in zip(READ, middles, strict=True)
        }


def facts_answered(
    model: BaseModel, shipped: GistEncoder, way: GistWay, blocks: torch.Tensor, facts: Sequence[Needle]
) -> dict[str, list[float]]:
    """(B, 32) ids, each with its fact -> by what stands for the block (`ASKED`) 1 where the right one of eight answers
    is the likeliest, and under "NAME, margin" by how many nats it is likelier than the best wrong one.
    """
    made = way.gists(blocks)
    found: dict[str, list[float]] = {f"{name}{of}": [] for name in ASKED for of in ("", ", margin")}
    with torch.no_grad():
        rows = model.embed(blocks)
        sinks = model.embed(torch.tensor(model.sinks()))
        for read, own, other, fact in zip(rows, shipped.encode_tokens(rows, blocks), made.to(rows), facts, strict=True):
            for name, entries in zip(ASKED, (read, own, other), strict=True):
                losses = needle_nll(model, torch.cat([sinks, entries]), fact)
                right = losses.pop(fact.right)
                found[name].append(float(right < min(losses)))
                found[f"{name}, margin"].append(min(losses) - right)
    return found


def planted(model: BaseModel, text: Sequence[int], facts: Sequence[Needle]) -> torch.Tensor:
    """(len(facts), 32) ids: blocks of the text, evenly spread, each with the whole statement of a fact in it."""
    blocks = []
    for number, fact in enumerate(facts):
        at = number * (len(text) - BLOCK) // len(facts)
        said = model.encode(fact.statement)[:BLOCK]
        place = number % (BLOCK - len(said) + 1)
        block = list(text[at : at + BLOCK])
        block[place : place + len(said)] = said
        blocks.append(block)
    return torch.tensor(blocks, dtype=torch.int64)


@dataclass(frozen=True, slots=True)
class Judged:
    """Windows of one condition, each way beside the other. groups: the document of each window."""

    nll: dict[str, list[float]]
    groups: Sequence[int]
    seed: int

    def gained(self, read: str = "gist") -> Interval:
        """other way − `read`, in nats a token: below zero, the other way is better."""
        return resampled(self.nll, lambda rows: rows["other way"] - rows[read], seed=self.seed, groups=self.groups)

    def share(self, name: str) -> Interval | None:
        """The content share of a way against its own shuffled gists; None where tokens are not clearly better."""
        shuffled = "shuffled" if name == "gist" else f"{name}, shuffled"
        rows = {"own": self.nll[name], "wrong": self.nll[shuffled], "full": self.nll["full"]}
        gap = resampled(rows, lambda of: of["wrong"] - of["full"], seed=self.seed, groups=self.groups)
        if gap.low <= 0:
            return None
        return resampled(
            rows, lambda of: (of["wrong"] - of["own"]) / (of["wrong"] - of["full"]), seed=self.seed, groups=self.groups
        )
