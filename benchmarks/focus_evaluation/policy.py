"""How good a policy's choice of detail is: its context against the best and the most recent, on measured ΔNLL.

Every policy values every gist that could be open; the same exact solver then spends the same room on its values, so
that what is compared is the values. As the solver opens only what is worth more than 0 and adds values up, their scale
and sign decide too; filled by rank, a policy's order alone does. The oracle's values are the measured ΔNLL themselves.
As single ΔNLLs do not add up, a greedy oracle goes on from the best context that anyone built and measures after each
step: no policy's context is better than its.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import torch

from amgs_focus.lens.scoring import FocusScorer, LensView
from amgs_focus.protocols import ProgressCallback
from amgs_focus.records import Findings, NodeRef
from amgs_focus.utility import HorizonReader, Label, LabelSnapshot, counterfactuals
from amgs_focus.window.working_context import SINKS, Values, WorkingContext, aggregate
from benchmarks.focus_evaluation.exact_allocation import best, is_open, total_gain, with_open
from benchmarks.focus_evaluation.statistics import spearman

ORACLE = "oracle"
GREEDY = "greedy oracle"
STATIC = "static"
FILLED = ", filled by rank"
RECENT_TOKENS = 64

Policy = Callable[[LensView], Values]
"""(entries,) what more detail is worth to each entry of the context, in units of its own."""


@runtime_checkable
class Attentive(Protocol):
    """A base model that shows where it looks."""

    def attention(self, embeddings: torch.Tensor, last: int) -> torch.Tensor:
        """(1, W, d) -> (W,): attention of the last positions to each, averaged over layers and heads."""
        ...


@dataclass(frozen=True)
class Judged:
    """One snapshot. predicted: by policy, the values of the labels' nodes, in their order.

    worth: by policy, the summed measured ΔNLL of what it has open, in nats a token. nll: by policy, the NLL
    of the horizon after the context that it really builds. opened: how many gists it opens.
    """

    labels: tuple[Label, ...]
    predicted: Mapping[str, tuple[float, ...]]
    worth: Mapping[str, float]
    nll: Mapping[str, float]
    opened: Mapping[str, int]

    def spearman(self, policy: str) -> float:
        """Rank correlation of predicted and measured values; 0 where either is constant."""
        measured = [label.gain for label in self.labels]
        found = self.predicted[policy]
        return spearman(found, measured)


def judge(
    snapshot: LabelSnapshot,
    policies: Mapping[str, Policy],
    fixed: Mapping[str, WorkingContext],
    *,
    findings: Findings | None = None,
    steps: int = 4,
    breadth: int = 8,
    progress: ProgressCallback | None = None,
) -> Judged:
    """Measure every action of the snapshot, let each policy spend the window's room, and read what it built.

    Each policy's context is built by its values and, under its name and `FILLED`, by their order alone.
    fixed: contexts that are what they are, without values (a static layout). findings: what a search found for the
    snapshot's question. steps, breadth: of the greedy
    oracle, as `climbed` takes them.
    """
    context, tree = snapshot.context, snapshot.tree
    labels = counterfactuals(snapshot, progress=progress)
    gains = {label.node: label.gain for label in labels}
    view = LensView(context, tree, snapshot.question, findings)
    values = {name: _by_node(policy(view), labels, context) for name, policy in policies.items()}
    built = {name: best(context, tree, wanted).context for name, wanted in values.items()}
    built |= {f"{name}{FILLED}": filled(context, wanted) for name, wanted in values.items()}
    built |= {**fixed, ORACLE: best(context, tree, gains).context}
    reader = HorizonReader(snapshot)
    nll = {name: float(reader.losses(chosen).mean()) for name, chosen in built.items()}
    leader = min(nll, key=lambda name: nll[name])
    built[GREEDY], nll[GREEDY] = climbed(snapshot, built[leader], gains, steps=steps, breadth=breadth)
    return Judged(
        labels=labels,
        predicted={name: tuple(found[label.node] for label in labels) for name, found in values.items()},
        worth={name: total_gain(chosen, gains) for name, chosen in built.items()},
        nll=nll,
        opened={name: sum(entry.level == 0 for entry in chosen.entries()) for name, chosen in built.items()},
    )


def filled(context: WorkingContext, values: Mapping[NodeRef, float]) -> WorkingContext:
    """The blocks of the greatest values open, one after another while the window has room, and no other block."""
    opened = [node for node in values if node.level == 1 and is_open(context, node)]
    blocks = [*opened, *(node for node in values if node.level == 1 and context.position(node) is not None)]
    found = with_open(context, opened, ())
    for node in sorted(blocks, key=lambda node: -values[node]):
        if (place := found.position(node)) is not None:
            after, _ = found.expand(place)
            found = after if after.used <= after.window else found
    return found


def climbed(
    snapshot: LabelSnapshot, context: WorkingContext, gains: Mapping[NodeRef, float], *, steps: int, breadth: int
) -> tuple[WorkingContext, float]:
    """(a context at least as good, its NLL in nats a token): the best measured step from it, up to `steps` times.

    A step opens a block and closes, where the room needs it, those that are worth least, or closes one. Of all
    steps the `breadth` that the single ΔNLLs promise most of are measured; it ends where none of them helps.
    """
    reader = HorizonReader(snapshot)
    reached = float(reader.losses(context).mean())
    for _ in range(steps):
        moves = sorted(_moves(context, gains), key=lambda move: -move[0])[:breadth]
        measured = [(float(reader.losses(after).mean()), number) for number, (_, after) in enumerate(moves)]
        if not measured or min(measured)[0] >= reached:
            break
        reached, number = min(measured)
        context = moves[number][1]
    return context, reached


def _moves(context: WorkingContext, gains: Mapping[NodeRef, float]) -> list[tuple[float, WorkingContext]]:
    """Every step over blocks that fits the window: what the single ΔNLLs promise of it, and where it leads."""
    blocks = [node for node in gains if node.level == 1]
    opened = sorted((node for node in blocks if is_open(context, node)), key=lambda node: gains[node])
    moves = [(-gains[node], with_open(context, opened, set(opened) - {node})) for node in opened]
    for node in blocks:
        place = context.position(node)
        if place is None:
            continue
        kept, promise = list(opened), gains[node]
        after = with_open(context, opened, {*kept, node})
        while after.used > after.window and kept:
            promise -= gains[kept.pop(0)]
            after = with_open(context, opened, {*kept, node})
        if after.used <= after.window:
            moves.append((promise, after))
    return moves


def by_scorer(scorer: FocusScorer) -> Policy:
    """A scorer's signed scores."""
    return lambda view: aggregate(view.context, scorer.score(view).values)


def by_findings(findings: Findings) -> Policy:
    """The score of the best block found in each entry, less the middle one of all that were found; 0 for what holds
    none.
    """
    middle = float(np.median([one.score for one in findings.blocks])) if findings.blocks else 0.0

    def policy(view: LensView) -> Values:
        values = np.zeros(len(view.context.entries()))
        for one in reversed(findings.blocks):  # the best last, so that its score stands
            place = view.context.covering(one.block * view.context.block_size)
            if place is not None:
                values[place] = one.score - middle
        return values

    return policy


def by_recency(view: LensView) -> Values:
    """The nearer to the cursor, the more."""
    return 1 / (1 + np.array([view.context.distance(entry) for entry in view.context.entries()], np.float64))


def by_age(view: LensView) -> Values:
    """The further from the cursor, the more: the opposite of recency."""
    return 1 - by_recency(view)


def by_chance(seed: int) -> Policy:
    """Uniform draws."""
    return lambda view: np.random.default_rng(seed).random(len(view.context.entries()))


def by_attention(view: LensView) -> Values:
    """The attention mass that the frozen model's last positions give to each entry; its model is Attentive."""
    context, model = view.context, view.tree.model
    if not isinstance(model, Attentive):
        raise TypeError(f"{model.card.name} does not show its attention")
    with torch.no_grad():
        rows = context.embeddings(view.tree, 0, context.used)
        paid = model.attention(rows[None], min(RECENT_TOKENS, context.used))[SINKS:].double().cpu().numpy()
    costs = np.array([entry.cost for entry in context.entries()], np.int64)
    mass: Values = np.add.reduceat(paid, np.concatenate([[0], np.cumsum(costs)[:-1]]))
    return mass


def _by_node(values: Values, labels: tuple[Label, ...], context: WorkingContext) -> dict[NodeRef, float]:
    """What being open is worth to each labelled node: its own value, or the mean of its open children's."""
    found = {}
    size = context.block_size
    for label in labels:
        place = context.position(label.node)
        if place is not None:
            found[label.node] = float(values[place])
            continue
        width = size**label.node.level
        first = context.covering(label.node.index * width)
        last = context.covering((label.node.index + 1) * width - 1)
        if first is not None and last is not None:
            found[label.node] = float(values[first : last + 1].mean())
    return found
