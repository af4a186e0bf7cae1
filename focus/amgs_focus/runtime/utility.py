"""Measure what detail is worth to the tokens after it, by reading the context with and without it; and what memory
blocks are worth to an answer, by their time as tokens and the model's gain.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray

from amgs_focus.errors import FocusError
from amgs_focus.options import PerfClock, ProgressCallback
from amgs_focus.records import Action, Band, BlockUtility, Measurement, NodeRef, SpanSource, parent_of, tail_start
from amgs_focus.runtime.prefix import FocusState, PrefixReader, ReadHistory
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.window.working_context import WorkingContext, token_entries


def measure(
    context: WorkingContext, tree: LifetimeTree, place: int, horizon: int, clock: PerfClock, kind: Action | None = None
) -> Measurement:
    """Return the NLL of the last tokens with an entry coarse less that with it fine, in nats a token, even if it does
    not fit.

    The tokens are the last `horizon` of the lifetime, or as many of them as are read as tokens after the entry. kind
    defaults to expand for a gist and to collapse for tokens. Raises FocusError when the action is illegal or when
    nothing follows the entry.

    Each context is read in full, without a cache or an approximation. MegaContext, "Counterfactual ΔNLL labeling".
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
    """Return (n,) −log p in nats of each of the context's last n tokens, given all before it except the entry
    `dropped`.

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
    """Return the context with a node collapsed. Raises FocusError that says why it cannot be."""
    if tree.span(node)[1] > context.tail_start or node.index >= tree.count(node.level):
        raise FocusError(
            f"{node} is in the tail or not complete, so there is no gist to compare with.",
            title="Nothing to measure",
            way_out="Choose an earlier entry.",
        )
    return context.collapse(node)[0]


def _token_run(context: WorkingContext) -> int:
    """Return the lifetime token from which the context holds only tokens."""
    start = context.lifetime
    for entry in reversed(context.entries()):
        if entry.level:
            break
        start = entry.start
    return start


HALF = 0.5
"""Share of a block from which it counts as read as tokens."""


def block_utilities(
    state: FocusState,
    tree: LifetimeTree,
    clock: PerfClock,
    *,
    measure: bool = True,
    progress: ProgressCallback | None = None,
) -> tuple[BlockUtility, ...]:
    """Return the utility of every memory block in the lifetime, in order of time.

    measure: also measure, over the present answer's tokens, the ΔNLL of detail that is open or could be, and record it
    as usage, which counts for forgetting. A block's ΔNLL is that of the gists over it, by overlap. Raises FocusError
    when there is no answer to measure over, and whatever `progress` raises to cancel.
    """
    spans: dict[str, list[SpanSource]] = defaultdict(list)
    for span in tree.spans():
        if span.source is not None:
            spans[span.source].append(span)
    maps = state.history or (state.context.bands(),)
    labels = _labels(state, tree, clock, progress) if measure else ()
    for label in labels:
        tree.catalogue.usage.record_gain(label.node, label.gain)
    utilities = []
    for source, source_spans in spans.items():
        shares = [_share(source_spans, bands) for bands in maps]
        gain, error, covered = _gain(source_spans, labels, tree)
        utilities.append(
            BlockUtility(
                source=source,
                label=source_spans[0].label,
                tokens=sum(span.end - span.start for span in source_spans),
                residency=sum(shares) / len(shares),
                expansions=sum(before < HALF <= after for before, after in pairwise(shares)),
                gain=gain,
                error=error,
                measured=covered,
            )
        )
    return tuple(utilities)


def before_answer(state: FocusState) -> WorkingContext:
    """Return the present context without the answer's tokens, as the model saw it before it answered.

    What was the tail then is tokens again; a gist that also covers older text is replaced by its children.
    """
    context = state.context
    length = context.lifetime - len(state.answer)
    tail = tail_start(length, context.block_size, context.tail_blocks)
    while coarse := [
        candidate
        for candidate in context.items
        if candidate.level and candidate.start < length and candidate.end > tail
    ]:
        context, _ = context.expand(context.items.index(coarse[0]))
    items = [entry for entry in context.entries() if entry.end <= length]
    start = max((entry.end for entry in items), default=0)
    whole = tuple(items) + tuple(token_entries(start, length, context.block_size))
    return WorkingContext(whole, length, context.window, context.block_size, context.tail_blocks)


@dataclass(frozen=True, slots=True)
class _Gain:
    """Gain from the detail below a gist, in nats per token of the answer, with its standard error."""

    node: NodeRef
    gain: float
    error: float


def measure_losses(
    context: WorkingContext,
    tree: LifetimeTree,
    answer: Sequence[int],
    others: Sequence[WorkingContext],
    clock: PerfClock,
    progress: ProgressCallback | None = None,
) -> list[NDArray[np.float64]]:
    """Return the NLL of each token of an answer, after a context and after each other context; shared beginnings are
    read once.
    """
    reader, losses = PrefixReader(tree.model, clock), []
    for number, trial in enumerate([context, *others]):
        if progress is not None:
            progress(number, 1 + len(others), "ΔNLL")
        losses.append(reader.losses(ReadHistory((trial,), tree.generation), tree, answer).numpy())
    return losses


def _labels(
    state: FocusState, tree: LifetimeTree, clock: PerfClock, progress: ProgressCallback | None
) -> Sequence[_Gain]:
    """Return the gain of every level-1 gist before the tail that is open or may be opened. Raises FocusError without an
    answer.
    """
    answer = tuple(token for token in state.answer if token not in tree.model.stops)
    if not answer:
        raise FocusError(
            "Nothing was decoded yet, so no block can have helped.",
            title="Nothing to measure",
            way_out="Decode an answer first, or report residency without measuring.",
            about="step",
        )
    context = before_answer(state)
    settled = [entry for entry in reversed(context.entries()) if entry.end <= context.tail_start and entry.level < 2]
    settled = [entry for entry in settled if not entry.level or not tree.is_sealed(entry.node)]
    nodes = [NodeRef(1, entry.index) for entry in settled]
    places = [context.items.index(entry) for entry in settled]
    others = [
        (context.expand(at) if entry.level else context.collapse(node))[0]
        for entry, node, at in zip(settled, nodes, places, strict=True)
    ]
    plain, *trials = measure_losses(context, tree, answer, others, clock, progress)
    gains = []
    for entry, node, trial in zip(settled, nodes, trials, strict=True):
        change = plain - trial if entry.level else trial - plain
        spread = float(change.std(ddof=1)) if len(change) > 1 else 0.0
        gains.append(_Gain(node, float(change.mean()), spread / len(change) ** 0.5))
    return gains


def _share(spans: Iterable[SpanSource], bands: Sequence[Band]) -> float:
    """Return the share of a block that is read as tokens."""
    whole = shown = 0
    for span in spans:
        whole += span.end - span.start
        shown += sum(max(0, min(span.end, band.end) - max(span.start, band.start)) for band in bands if band.level == 0)
    return shown / whole if whole else 0.0


def _gain(
    spans: Sequence[SpanSource], labels: Sequence[_Gain], tree: LifetimeTree
) -> tuple[float | None, float, float]:
    """Return (ΔNLL in nats a token of the answer, its standard error, the measured share of the block)."""
    whole = sum(span.end - span.start for span in spans)
    gain = variance = covered = 0.0
    for label in labels:
        start, end = tree.span(label.node)
        overlap = sum(max(0, min(span.end, end) - max(span.start, start)) for span in spans)
        share = overlap / (end - start)
        gain += share * label.gain
        variance += (share * label.error) ** 2
        covered += overlap
    return (gain, variance**0.5, covered / whole) if covered else (None, 0.0, 0.0)
