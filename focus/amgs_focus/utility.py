"""Counterfactual ΔNLL: what detail is worth, measured by computing the context both ways.

MegaContext, "Counterfactual ΔNLL labeling". Exact and unhurried: a full pass for each way, no cache, no approximation.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from amgs_focus.errors import FocusError
from amgs_focus.protocols import PerfClock, ProgressCallback
from amgs_focus.records import Action, Measurement, NodeRef, parent_of
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.working_context import SINKS, Codes, Entry, TreeShape, WorkingContext, gist_entry


def measure(
    context: WorkingContext, tree: LifetimeTree, place: int, horizon: int, clock: PerfClock, kind: Action | None = None
) -> Measurement:
    """NLL of the last tokens with an entry coarse less with it fine, in nats a token, whether or not it
    would fit.

    The tokens are the last `horizon` of the lifetime, or as many of them as stand as tokens after the
    entry. kind defaults to expand for a gist and to collapse for tokens. Raises FocusError when the action
    is illegal or when nothing follows the entry.
    """
    began = clock.perf()
    entry = context.entries()[place]
    kind = kind or ("expand" if entry.level else "collapse")
    if kind == "expand":
        if tree.is_sealed(entry.node):
            raise FocusError(
                f"The detail below {entry.node} was forgotten.",
                title="Nothing to measure",
                way_out="Restore it first, unless it was purged.",
                about="forgotten",
            )
        node, coarse = entry.node, context
        fine, _ = context.expand(place)
    else:
        node, fine = parent_of(entry.node, context.block_size), context
        coarse = _collapsed(context, tree, node)
    start = max(_token_run(context), tree.span(node)[1], context.lifetime - horizon)
    if start >= context.lifetime:
        raise FocusError(
            f"No tokens follow {entry.node}.", title="Nothing to measure", way_out="Choose an earlier entry."
        )
    targets = torch.from_numpy(tree.tokens(start, context.lifetime).astype("int64"))
    nll_fine, nll_coarse, nll_dropped = (
        negative_log_likelihood(fine, tree, targets),
        negative_log_likelihood(coarse, tree, targets),
        negative_log_likelihood(coarse, tree, targets, dropped=node),
    )
    gains = nll_coarse - nll_fine  # (n,)
    spread = float(gains.std(correction=1)) if len(gains) > 1 else 0.0
    return Measurement(
        node=node,
        kind=kind,
        gain=float(gains.mean()),
        error=spread / len(gains) ** 0.5,
        nll_fine=float(nll_fine.mean()),
        nll_coarse=float(nll_coarse.mean()),
        horizon=len(gains),
        step=0,
        milliseconds=(clock.perf() - began) * 1000,
        saved=float((nll_dropped - nll_coarse).mean()),
    )


def negative_log_likelihood(
    context: WorkingContext, tree: LifetimeTree, targets: torch.Tensor, dropped: NodeRef | None = None
) -> torch.Tensor:
    """(n,) −log p in nats of each of the context's last n tokens, given all before it but the entry `dropped`. Raises
    FocusError on NaN.
    """
    with torch.no_grad():
        rows = context.embeddings(tree, 0, context.used)  # (W, d)
        place = None if dropped is None else context.position(dropped)
        if place is not None:
            entries = context.entries()
            start = SINKS + sum(entry.cost for entry in entries[:place])
            rows = torch.cat([rows[:start], rows[start + entries[place].cost :]])
        hidden = tree.model.forward(rows[None])[0]  # (W, d)
        logits = tree.model.logits(hidden[-len(targets) - 1 : -1])  # (n, V)
    losses = torch.nn.functional.cross_entropy(logits.double(), targets.to(logits.device), reduction="none")
    if not bool(torch.isfinite(losses).all()):
        raise FocusError(f"{tree.model.card.name} returned logits that are not numbers.")
    return losses.cpu()


def _collapsed(context: WorkingContext, tree: LifetimeTree, node: NodeRef) -> WorkingContext:
    """The context with a node closed; FocusError says why it cannot be."""
    if tree.span(node)[1] > context.tail_start or node.index >= tree.count(node.level):
        raise FocusError(
            f"{node} is in the tail or not complete, so there is no gist to compare with.",
            title="Nothing to measure",
            way_out="Choose an earlier entry.",
        )
    return context.collapse(node)[0]


def _token_run(context: WorkingContext) -> int:
    """The lifetime token from which the context ends in tokens."""
    start = context.lifetime
    for entry in reversed(context.entries()):
        if entry.level:
            break
        start = entry.start
    return start


@dataclass(frozen=True, slots=True)
class LabelSnapshot:
    """A working context between two steps of a run, and the tokens that came next in the text.

    question: token ids of the question that stands before the cursor, () when there is none.
    """

    context: WorkingContext
    tree: LifetimeTree
    future: tuple[int, ...]
    question: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LabelledAction:
    """An action that is legal, and where it leads. node: the gist that it opens, or closes its children into.

    keep: positions from the front, sinks included, that the action leaves as they are.
    """

    node: NodeRef
    kind: Action
    context: WorkingContext
    keep: int


@dataclass(frozen=True, slots=True)
class Gained:
    """What some detail is worth over the horizon.

    gains: NLL without it less NLL with it, in nats, of each token of the horizon; above 0 detail helps.
    positions: what the detail costs.
    """

    gains: tuple[float, ...]
    positions: int

    @property
    def horizon(self) -> int:
        return len(self.gains)

    @property
    def gain(self) -> float:
        """In nats a token of the horizon."""
        return sum(self.gains) / len(self.gains)

    @property
    def error(self) -> float:
        """Standard error of the gain over the horizon's tokens."""
        return statistics.stdev(self.gains) / len(self.gains) ** 0.5 if len(self.gains) > 1 else 0.0

    @property
    def utility(self) -> float:
        """Nats that the horizon saves in all for each position that the detail takes."""
        return sum(self.gains) / self.positions


@dataclass(frozen=True, slots=True)
class Label(Gained):
    """What the detail below a node is worth, whichever way the action went."""

    node: NodeRef
    kind: Action


def candidates(context: WorkingContext, tree: TreeShape) -> tuple[LabelledAction, ...]:
    """Every legal action in order of time: each gist opened, each complete group outside the tail closed."""
    found = []
    keep = SINKS
    for place, entry in enumerate(context.entries()):
        if entry.level and not tree.is_sealed(entry.node):
            found.append(LabelledAction(entry.node, "expand", context.expand(place)[0], keep))
        parent = parent_of(entry.node, context.block_size)
        if _closable(context, tree, entry, parent):
            found.append(LabelledAction(parent, "collapse", context.collapse(parent)[0], keep))
        keep += entry.cost
    return tuple(found)


def counterfactuals(
    snapshot: LabelSnapshot,
    actions: Sequence[LabelledAction] | None = None,
    progress: ProgressCallback | None = None,
    teacher: torch.Tensor | None = None,
) -> tuple[Label, ...]:
    """The exact ΔNLL of each action (default: of all `candidates`), in their order, over the snapshot's future.

    teacher: (H, V) log-probabilities that are to be kept; then it is the change of KL(teacher ‖ context) instead, which
    weighs all that could follow and not the one text that did.

    Raises FocusError when there is no future or the model gives no numbers, and whatever `progress` raises to
    cancel.
    """
    context, tree = snapshot.context, snapshot.tree
    if actions is None:
        actions = candidates(context, tree)
    if not snapshot.future:
        raise FocusError("No tokens follow the snapshot.", title="Nothing to measure")
    reader = HorizonReader(snapshot, teacher)
    base = reader.losses(context)  # (H,); it fills the cache with the whole context
    labels: dict[int, Label] = {}
    # from the last change to the first, so that what was read is only ever cut shorter
    for done, number in enumerate(sorted(range(len(actions)), key=lambda at: -actions[at].keep)):
        if progress is not None:
            progress(done, len(actions), "ΔNLL")
        action = actions[number]
        other = reader.losses(action.context)
        gains = other - base if action.kind == "collapse" else base - other
        positions = abs(action.context.used - context.used)
        labels[number] = Label(tuple(gains.tolist()), positions, action.node, action.kind)
    return tuple(labels[number] for number in range(len(actions)))


class HorizonReader:
    """What a snapshot's future costs after one context or another; what two readings share is read once.

    teacher: as of `counterfactuals`.
    """

    def __init__(self, snapshot: LabelSnapshot, teacher: torch.Tensor | None = None) -> None:
        self._teacher = teacher
        self._tree = snapshot.tree
        self._model = snapshot.tree.model
        self._cache = self._model.new_cache()
        self._codes: Codes = np.empty(0, np.int64)  # what the cache holds, the future left out
        self._targets = torch.tensor(snapshot.future, dtype=torch.int64)

    def losses(self, context: WorkingContext) -> torch.Tensor:
        """(H,) −log p in nats of the future's tokens, or KL from the teacher. Raises FocusError on NaN."""
        model, targets, codes = self._model, self._targets, context.codes()
        length = min(len(codes), len(self._codes))
        differ = np.flatnonzero(codes[:length] != self._codes[:length])
        keep = min(int(differ[0]) if len(differ) else length, len(codes) - 1)
        with torch.no_grad():
            rows = context.embeddings(self._tree, keep, context.used)
            rows = torch.cat([rows, model.embed(targets[:-1]).to(rows)])
            self._cache.crop(keep)
            hidden = model.forward(rows[None], self._cache)[0, -len(targets) :]  # (H, d)
            logits = model.logits(hidden)
        self._codes = codes
        if self._teacher is None:
            losses = torch.nn.functional.cross_entropy(logits.double(), targets.to(logits.device), reduction="none")
        else:
            said = logits.double().log_softmax(dim=-1)
            losses = (self._teacher.exp() * (self._teacher - said)).sum(dim=-1)
        if not bool(torch.isfinite(losses).all()):
            raise FocusError(f"{model.card.name} returned logits that are not numbers.")
        return losses.cpu()


def _closable(context: WorkingContext, tree: TreeShape, entry: Entry, parent: NodeRef) -> bool:
    """Whether an entry is the first of a complete group that may give way to its gist."""
    if parent.index >= tree.count(parent.level) or tree.is_stale(parent):
        return False
    if gist_entry(parent, context.block_size, context.slots).end > context.tail_start:
        return False
    return context.group(parent)[:1] == (entry,)
