"""Counterfactual ΔNLL: what detail is worth, measured by computing the context both ways.

MegaContext, "Counterfactual ΔNLL labeling". Exact and unhurried: a full pass for each way, no cache, no approximation.
"""

from __future__ import annotations

from dataclasses import replace

import torch

from amgs_focus.errors import FocusError
from amgs_focus.protocols import PerfClock
from amgs_focus.records import Action, Measurement, NodeRef, parent_of
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.working_context import WorkingContext


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
        coarse = _collapse_node(context, tree, node)
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
    """Return (n,) −log p in nats of each of the context's last n tokens, given all before it but the entry `dropped`.
    Raises FocusError on NaN.
    """
    with torch.no_grad():
        read = replace(context, items=tuple(entry for entry in context.entries() if entry.node != dropped))
        hidden = tree.model.forward(read.embeddings(tree, 0, read.read)[None])[0]  # (R, d)
        logits = tree.model.logits(hidden[-len(targets) - 1 : -1])  # (n, V)
    losses = torch.nn.functional.cross_entropy(logits.double(), targets.to(logits.device), reduction="none")
    if not bool(torch.isfinite(losses).all()):
        raise FocusError(f"{tree.model.card.name} returned logits that are not numbers.")
    return losses.cpu()


def _collapse_node(context: WorkingContext, tree: LifetimeTree, node: NodeRef) -> WorkingContext:
    """Return the context with a node closed; FocusError says why it cannot be."""
    if tree.span(node)[1] > context.tail_start or node.index >= tree.count(node.level):
        raise FocusError(
            f"{node} is in the tail or not complete, so there is no gist to compare with.",
            title="Nothing to measure",
            way_out="Choose an earlier entry.",
        )
    return context.collapse(node)[0]


def _token_run(context: WorkingContext) -> int:
    """Return the lifetime token from which the context ends in tokens."""
    start = context.lifetime
    for entry in reversed(context.entries()):
        if entry.level:
            break
        start = entry.start
    return start
