"""What a step of LensNet's training reads: a snapshot's input, and what its entries' detail was worth.

Worths are asinh(utility / UNIT), the utility in nats that the horizon saves for each position: near zero a measure of
small differences, far from it of orders of magnitude. Measured labels are exact; the warm start's are about
made-up facts and need no language model.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from amgs_focus.errors import WindowBudgetError
from amgs_focus.gist import GistEncoder
from amgs_focus.lens.lensnet import LensInput, LensReader
from amgs_focus.lens.scoring import LensView
from amgs_focus.model.base_model import BaseModel
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.candidates import assemble
from amgs_focus.window.working_context import WorkingContext
from benchmarks.focus_training.counterfactuals import Label
from benchmarks.focus_training.lens_labels import JointLabel, LabelledSnapshot
from benchmarks.focus_training.lens_runs import LensRuns, LensText, fact_lifetime, spread, stirred, text_of

UNIT = 0.05  # nats a position
TOLD = 0.6  # utility of a block that holds all of the fact asked about, in the warm start


@dataclass(frozen=True, slots=True)
class LensExample:
    """N: entries, L: labels. members (L, N): which entries a label is the mean of, each row summing to 1.

    worth (L,), weight (L,): targets, and how much each counts. alone (L,): what one node is worth, and not several
    together. settled (N,): outside the tail. gain, refund
    (N,): positions that opening an entry takes and that closing it gives back, 0 where that is illegal.
    """

    group: str
    given: LensInput
    members: torch.Tensor
    target: torch.Tensor
    weight: torch.Tensor
    alone: torch.Tensor
    settled: torch.Tensor
    gain: torch.Tensor
    refund: torch.Tensor


def target_of(utility: float) -> float:
    """A utility in nats a position as a target."""
    return math.asinh(utility / UNIT)


def measured_example(labelled: LabelledSnapshot, reader: LensReader) -> LensExample:
    """The example of a labelled snapshot, joint labels among the others. Labels count by how sure they are."""
    snapshot = labelled.snapshot
    context, tree = snapshot.context, snapshot.tree
    rows, target, weight = [], [], []
    measured: tuple[Label | JointLabel, ...] = (*labelled.labels, *labelled.joint)
    for label in measured:
        nodes = (label.node,) if isinstance(label, Label) else label.nodes
        spans = [tree.span(node) for node in nodes]
        inside = [any(low <= entry.start and entry.end <= high for low, high in spans) for entry in context.entries()]
        rows.append(torch.tensor(inside, dtype=torch.float32) / sum(inside))
        target.append(target_of(label.utility))
        noise = label.error * label.horizon / label.positions / UNIT
        weight.append(1 / (1 + noise**2))
    return _example(
        labelled.group,
        context,
        tree,
        reader.read(LensView(context, tree, snapshot.question)),
        (torch.stack(rows), torch.tensor(target), torch.tensor(weight)),
        alone=len(labelled.labels),
    )


def warm_examples(
    number: int, texts: Sequence[LensText], runs: LensRuns, model: BaseModel, gist: GistEncoder, *, each: int = 12
) -> Iterator[LensExample]:
    """Examples of lifetime `number`: up to `each` questions about made-up facts that stand in it.

    What an entry's detail is worth is guessed: much where it tells the fact that is asked about, else nothing.
    """
    generator = random.Random(f"{runs.seed}:warm:{number}")
    reader = LensReader()
    text = text_of(generator, texts, runs, 32)
    blocks = generator.randint(*runs.blocks)
    tree = LifetimeTree(model, gist)
    made = fact_lifetime(generator, text, blocks * 32, model)
    if made is None:
        return
    tree.append(made.tokens)
    for fact in generator.sample(made.facts, min(each, len(made.facts))):
        tree.append(model.encode(model.turn(fact.question)))
        context = _layout(generator, tree, runs)
        if context is not None:
            view = LensView(context, tree, tuple(model.encode(fact.question)))
            shares = [_share(entry.start, entry.end, fact.span) for entry in context.entries()]
            yield _guessed(text.group, view, reader, [TOLD * share for share in shares])
        tree.truncate(len(made.tokens))


def _guessed(group: str, view: LensView, reader: LensReader, utilities: Sequence[float]) -> LensExample:
    """An example in which every entry outside the tail, of level 1 or less, has a label."""
    context = view.context
    chosen = [
        place for place, entry in enumerate(context.entries()) if entry.level <= 1 and entry.end <= context.tail_start
    ]
    members = torch.zeros(len(chosen), len(context.entries()))
    members[torch.arange(len(chosen)), torch.tensor(chosen, dtype=torch.int64)] = 1.0
    target = torch.tensor([target_of(utilities[place]) for place in chosen])
    labels = (members, target, torch.ones(len(chosen)))
    return _example(group, context, view.tree, reader.read(view), labels, alone=len(chosen))


def _example(
    group: str,
    context: WorkingContext,
    tree: LifetimeTree,
    given: LensInput,
    labels: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    *,
    alone: int,
) -> LensExample:
    settled, gain, refund = [], [], []
    for entry in context.entries():
        outside = entry.end <= context.tail_start
        settled.append(outside)
        gain.append(float(context.block_size) if entry.level else 0.0)
        closable = outside and entry.level < max(1, tree.depth)
        refund.append(float(entry.cost - 1 if entry.level == 0 else entry.cost) if closable else 0.0)
    single = torch.arange(len(labels[0])) < alone
    return LensExample(group, given, *labels, single, torch.tensor(settled), torch.tensor(gain), torch.tensor(refund))


def _layout(generator: random.Random, tree: LifetimeTree, runs: LensRuns) -> WorkingContext | None:
    """A layout by chance of the lifetime as it is, or None where the window drawn cannot hold it."""
    window, tail = generator.choice(runs.windows), generator.choice(runs.tails)
    lay, free = generator.choice((assemble, spread)), generator.choice((0.0, 0.25, 0.5))
    try:
        context = lay(tree, window, tail, headroom=32 + int(free * window))
    except WindowBudgetError:
        return None
    return stirred(generator, context, tree)


def _share(start: int, end: int, span: tuple[int, int]) -> float:
    """The part of a span that [start, end) holds."""
    return max(0, min(end, span[1]) - max(start, span[0])) / (span[1] - span[0])
