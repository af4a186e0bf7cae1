"""Counterfactual ΔNLL of every legal action, which lenses learn from.

MegaContext, "Counterfactual ΔNLL labeling". Exact: a pass for each way, of which only what they share is read once.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from amgs_focus.errors import FocusError
from amgs_focus.options import ProgressCallback
from amgs_focus.records import Action, NodeRef, parent_of
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.working_context import SINKS, Codes, Entry, TreeShape, WorkingContext, gist_entry


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
            rows = context.embeddings(self._tree, keep, context.read)
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
    if gist_entry(parent, context.block_size).end > context.tail_start:
        return False
    return context.group(parent)[:1] == (entry,)
