"""What every action of a snapshot is worth, to first order, by one gated pass instead of one pass for each.

A gate stands on every node that could be opened or closed. The form that the context has is in sight of what comes
later; the other form is computed beside it, out of sight. A gate that opens by γ moves attention from the one to the
other, and the slope of the horizon's NLL at closed gates, for all of them from one backward pass over the tail and the
horizon, ranks candidates for exact measurement. It leaves out what the entries between would have made of the other
form, that positions behind it shift, and that attention saturates.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch

from amgs_focus.errors import FocusError
from amgs_focus.model.base_model import GatedModel
from amgs_focus.utility import LabelledAction, LabelSnapshot
from amgs_focus.window.working_context import SINKS, Entry, WorkingContext

OPENING = 1e-3  # γ at which the slope is taken: its logarithm must be finite


@dataclass(slots=True)
class _Packed:
    """Rows of both forms in one order, the other form of a group just before the group itself.

    other: the gate that shows a row, −1 for those in sight. dims: of each gate, the rows in sight that it hides.
    first: row from which on all is tail and horizon.
    """

    rows: torch.Tensor
    positions: torch.Tensor
    other: torch.Tensor
    dims: list[list[int]]
    first: int


def screen(
    snapshot: LabelSnapshot, actions: Sequence[LabelledAction], opening: float = OPENING
) -> list[float]:
    """An estimate of each action's gain (`Label.gain`), in their order; its scale means nothing, its order does.

    Raises FocusError when the model cannot be gated, has no numbers to give, or the context has no tail.
    """
    if not actions:
        return []
    gates = torch.full((len(actions),), opening, requires_grad=True)
    (slopes,) = torch.autograd.grad(gated_loss(snapshot, actions, gates), gates)
    if not bool(torch.isfinite(slopes).all()):
        raise FocusError(f"{snapshot.tree.model.card.name} returned logits that are not numbers.")
    signs = [1.0 if action.kind == "collapse" else -1.0 for action in actions]
    return [sign * float(slope) for sign, slope in zip(signs, slopes, strict=True)]


def gated_loss(
    snapshot: LabelSnapshot, actions: Sequence[LabelledAction], gates: torch.Tensor
) -> torch.Tensor:
    """() NLL of the future in nats a token with each action's gate (actions,) in [0, 1) open so far.

    With all gates at 0 it is the context's own; gradients flow to the gates. Raises FocusError as `screen`.
    """
    model = snapshot.tree.model
    if not isinstance(model, GatedModel):
        raise FocusError(f"{model.card.name} does not support gates.", way_out="Label without a screen.")
    packed = _pack(snapshot, actions)
    first, total = packed.first, len(packed.rows)
    cache = model.new_cache()
    with torch.no_grad():
        sight = torch.where(_allowed(packed, first), 0.0, -torch.inf)
        model.forward_gated(packed.rows[None, :first], cache, sight, packed.positions[:first])
    shown = torch.where(packed.other >= 0, gates.log()[packed.other.clamp(min=0)], torch.zeros(()))
    for gate, places in zip(gates, packed.dims, strict=True):
        mask = torch.zeros(total)
        mask[places] = 1.0
        shown = shown + mask * torch.log1p(-gate)
    later = torch.arange(first, total)[:, None] >= torch.arange(total)[None, :]
    bias = torch.where(later, shown[None, :].expand(total - first, -1), -torch.inf)
    hidden = model.forward_gated(packed.rows[None, first:], cache, bias, packed.positions[first:])[0]
    targets = torch.tensor(snapshot.future, dtype=torch.int64)
    logits = model.logits(hidden[-len(targets) :])
    return torch.nn.functional.cross_entropy(logits, targets.to(logits.device))


def _allowed(packed: _Packed, count: int) -> torch.Tensor:
    """(count, count) where the first rows may look: back at what is in sight, and within their own other form."""
    places, other = torch.arange(count), packed.other[:count]
    return (places[None, :] <= places[:, None]) & ((other < 0)[None, :] | (other[:, None] == other[None, :]))


def _pack(snapshot: LabelSnapshot, actions: Sequence[LabelledAction]) -> _Packed:
    context, model = snapshot.context, snapshot.tree.model
    by_place: dict[int, list[int]] = {}
    for number, action in enumerate(actions):
        by_place.setdefault(action.keep, []).append(number)
    sinks = model.embed(torch.tensor(model.sinks(), dtype=torch.int64))
    pieces, positions, other = [sinks], list(range(SINKS)), [-1] * SINKS
    row_of: dict[int, int] = {}  # position in the context -> its row
    place, first = SINKS, None
    for entry in context.entries():
        if first is None and entry.start >= context.tail_start:
            first = len(other)
        for number in by_place.get(place, ()):
            made = _rows_of(_other_form(actions[number]), snapshot).to(sinks)
            pieces.append(made)
            positions += range(place, place + len(made))
            other += [number] * len(made)
        made = _rows_of([entry], snapshot).to(sinks)
        for offset in range(entry.cost):
            row_of[place + offset] = len(other) + offset
        pieces.append(made)
        positions += range(place, place + entry.cost)
        other += [-1] * entry.cost
        place += entry.cost
    if first is None:
        raise FocusError("The context has no tail of tokens.", title="Nothing to screen")
    future = model.embed(torch.tensor(snapshot.future[:-1], dtype=torch.int64)).to(sinks)
    pieces.append(future)
    positions += range(place, place + len(future))
    other += [-1] * len(future)
    dims = []
    for action in actions:
        removed = sum(entry.cost for entry in _present_form(context, action))
        dims.append([row_of[at] for at in range(action.keep, action.keep + removed)])
    return _Packed(torch.cat(pieces), torch.tensor(positions), torch.tensor(other), dims, first)


def _present_form(context: WorkingContext, action: LabelledAction) -> Sequence[Entry]:
    """The entries that the action takes away."""
    width = context.block_size ** max(1, action.node.level)
    low, high = action.node.index * width, (action.node.index + 1) * width
    return [entry for entry in context.entries() if low <= entry.start and entry.end <= high]


def _other_form(action: LabelledAction) -> Sequence[Entry]:
    """The entries that the action puts in their place."""
    return _present_form(action.context, action)


def _rows_of(entries: Sequence[Entry], snapshot: LabelSnapshot) -> torch.Tensor:
    """(cost, d) embeddings of neighbouring entries of one level."""
    tree = snapshot.tree
    first, last = entries[0], entries[-1]
    if first.level:
        return tree.gists(first.level, first.index, last.index + 1).flatten(0, 1)
    tokens = torch.from_numpy(tree.tokens(first.start, last.end).astype("int64"))
    return tree.model.embed(tokens)
