"""Build the views of a runtime: a snapshot of everything, the explanation of an entry, and a node's provenance."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence

from amgs_focus.model.base_model import BaseModel
from amgs_focus.records import (
    Action,
    BranchView,
    Decision,
    Measurement,
    NodeProvenance,
    NodeRef,
    SpanProvenance,
    TokenSpan,
    parent_of,
)
from amgs_focus.runtime.prefix import FocusState, mean_residency
from amgs_focus.settings import FocusSettings
from amgs_focus.tree.gist_tree import LifetimeTree
from amgs_focus.tree.metadata_store import overlapping
from amgs_focus.views import REASON_SENTENCES, EntryExplanation, EntryView, FocusView, nothing_alike
from amgs_focus.window.allocator import ReadingCosts
from amgs_focus.window.candidates import FORGOTTEN, count_remaining_cooldown, reserve, say_stay
from amgs_focus.window.working_context import SINKS, Entry, WorkingContext

MOST = 16  # most spans listed for a gist


def node_provenance(tree: LifetimeTree, node: NodeRef) -> NodeProvenance:
    """Return what is stored about a node; for a block of tokens, usage and version are those of the gist above it."""
    start, end = tree.span(node)
    catalogue = tree.catalogue
    spans = [
        SpanProvenance(span, catalogue.about(whole.start), tree.length - whole.end)
        for span, whole in zip(tree.sources(start, end), tree.sources_whole(start, end), strict=True)
    ]
    version = tree.gist_version(max(1, node.level)) if tree.depth else 0
    lines = [f"{tree.gist.name}|{version}|{start}|{end}"]
    lines += [f"{origin.span}|{origin.about.path}|{origin.about.section}|{origin.about.version}" for origin in spans]
    return NodeProvenance(
        provenance=hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16],
        gist_version=version,
        spans=tuple(spans[:MOST]),
        span_count=len(spans),
        tags=catalogue.span_metadata.tags_on(start, end),
        use=catalogue.usage.of(node),
        forgotten=tree.is_sealed(node),
        purged=sum(high - low for low, high in overlapping(catalogue.find_gone(0), start, end)),
    )


def spread_of(tree: LifetimeTree, start: int, end: int, most: int = 256) -> float:
    """Return how much the level-1 gists of tokens [start, end) differ, using at most the first `most`.

    It is their mean squared distance to their mean, as a share of their mean square; near 0 for repetitive text.
    """
    first, last = start // tree.block_size, min(-(-end // tree.block_size), tree.count(1))
    if last - first < 2:
        return 0.0
    rows = tree.gists(1, first, min(last, first + most))
    return float(rows.var(dim=0, correction=0).sum() / rows.square().sum(dim=1).mean().clamp_min(1e-12))


_HALF = "�"
"""What an incomplete character at the end of a text decodes to."""

GIST_TOKENS = 24
"""Tokens of a gist's text that a view shows."""

Decisions = Mapping[tuple[NodeRef, Action], Decision]
Measurements = Mapping[NodeRef, Measurement]


def snapshot(
    state: FocusState,
    tree: LifetimeTree,
    measurements: Measurements,
    branches: tuple[BranchView, ...],
    *,
    scorer: str,
    head: int,
) -> FocusView:
    """Return a view of a runtime as one frozen value.

    measurements: the latest of each node. scorer: its name; head: steps known on the active branch.
    """
    settings, model, last = state.settings, tree.model, state.last
    decisions = _by_node(last.decisions if last else ())
    entries = tuple(
        _entry_view(state, tree, measurements, place, decisions) for place in range(len(state.context.entries()))
    )
    decoded = [token for token in state.answer if token not in model.stops]
    return FocusView(
        model=model.card.name,
        precision=model.card.precision,
        gist=tree.gist.name,
        scorer=scorer,
        block_size=settings.block_size,
        lifetime=tree.length,
        step=state.step,
        window=settings.window,
        used=state.context.used,
        sinks=SINKS,
        levels=tree.depth,
        entries=entries,
        decisions=last.decisions if last else (),
        history=state.history,
        swap_rate=sum(state.swaps) / len(state.swaps) if state.swaps else 0.0,
        mean_residency=mean_residency(state.context, state.residency, state.allocator.refocus),
        cadence=settings.cadence,
        next_refocus_in=0 if state.fresh else max(0, settings.cadence - state.since),
        refocuses=state.allocator.refocus,
        dirty=last.dirty if last else 0,
        predicted_ms=last.predicted_ms if last else 0.0,
        tau_expand=settings.tau_expand,
        tau_collapse=settings.tau_collapse,
        question=state.question,
        text=model.decode(decoded),
        finished=state.finished,
        position=state.step,
        head=head,
        branch=next(branch.name for branch in branches if branch.active),
        branches=branches,
        measurements=tuple(measurements.values()),
        sources=tree.spans(),
        question_share=state.question_share,
        question_likelihood=state.findings.likelihood if state.findings is not None else None,
        unheld=_unheld(state, tree),
        full_read_every=settings.full_read_every,
        rotates=settings.full_read_every == 1 or model.rotates,
        texts=tuple(_text_of(entry, tree) for entry in state.context.entries()),
        found=tuple(hit.block for hit in state.findings.blocks) if state.findings is not None else (),
    )


def _text_of(entry: Entry, tree: LifetimeTree) -> str:
    """Return the text of an entry; for a gist its first words."""
    end = entry.end if entry.level == 0 else min(entry.end, entry.start + GIST_TOKENS)
    return tree.text(entry.start, end)


def _unheld(state: FocusState, tree: LifetimeTree) -> tuple[NodeRef, ...]:
    """Return the pinned nodes whose span is coarser now than pinned."""
    pinned = [node for node, word in state.allocator.overrides.items() if word == "pin" and tree.exists(node)]
    places = {node: state.context.covering(tree.span(node)[0]) for node in pinned}
    entries = state.context.entries()
    return tuple(sorted(node for node, at in places.items() if at is not None and entries[at].level > node.level))


def explain(
    state: FocusState, tree: LifetimeTree, measurements: Measurements, prices: ReadingCosts, place: int
) -> EntryExplanation:
    """Return everything behind the entry at a position. prices: of reading the present context."""
    settings = state.settings
    entry = state.context.entries()[place]
    decisions = _by_node(state.last.decisions if state.last else ())
    decision = _decision_of(entry, decisions, settings.block_size)
    shown = _entry_view(state, tree, measurements, place, decisions)
    opening = state.context.expand_cost(place) if shown.expandable else None
    findings = state.findings.blocks if state.findings is not None else ()
    likelihood = state.findings.likelihood if state.findings is not None else None
    inside = (
        (at, hit) for at, hit in enumerate(findings, start=1) if entry.start <= hit.block * tree.block_size < entry.end
    )
    rank, hit = next(inside, (0, None))
    return EntryExplanation(
        entry=shown,
        text=tree.text(entry.start, entry.end),
        sources=tree.sources(entry.start, entry.end),
        score=shown.score,
        parts=shown.parts,
        decision=decision,
        expand_cost=opening,
        collapse_cost=_collapse_cost(entry, state.context) if shown.collapsible else None,
        expand_ms=0.0 if opening is None else prices.front(state.context, state.context.expand(place)[0]).milliseconds,
        cooldown=shown.cooldown,
        tau_expand=settings.tau_expand,
        tau_collapse=settings.tau_collapse,
        reason_text=_sentence(decision, state.allocator.refocus),
        would=_would(shown, decision, state, settings),
        measurement=measurements.get(entry.node),
        keeping=node_provenance(tree, entry.node),
        found=hit,
        found_rank=rank,
        unanswered=nothing_alike(state.question_share, likelihood),
    )


def tokens(tree: LifetimeTree, start: int, end: int) -> TokenSpan:
    """Return the lifetime's tokens [start, end), clipped to its length, with their texts."""
    start, end = max(0, min(start, tree.length)), max(0, min(end, tree.length))
    ids = [int(token) for token in tree.tokens(start, end)] if start < end else []
    return TokenSpan(start, token_texts(tree.model, ids), tree.sources(start, end))


def token_texts(model: BaseModel, ids: Sequence[int]) -> tuple[str, ...]:
    """Return each token's text. A character made of several tokens belongs to the last of them."""
    texts, before = [], ""
    for place in range(1, len(ids) + 1):
        whole = model.decode(ids[:place])
        now = whole.rstrip(_HALF) if place < len(ids) else whole
        texts.append(now.removeprefix(before))
        before = now
    return tuple(texts)


def _entry_view(
    state: FocusState, tree: LifetimeTree, measurements: Measurements, place: int, decisions: Decisions
) -> EntryView:
    context, allocator, settings = state.context, state.allocator, state.settings
    entry = context.entries()[place]
    decision = _decision_of(entry, decisions, settings.block_size)
    parent = parent_of(entry.node, settings.block_size)
    waits = (
        count_remaining_cooldown(allocator, entry.node, "expand", settings.cooldown),
        count_remaining_cooldown(allocator, parent, "collapse", settings.cooldown),
    )
    overrides = (allocator.overrides.get(entry.node), allocator.overrides.get(parent))
    measured = measurements.get(entry.node)
    return EntryView(
        position=place,
        level=entry.level,
        index=entry.index,
        start=entry.start,
        end=entry.end,
        cost=entry.cost,
        score=state.scores.get(entry.node, 0.0),
        parts=state.parts.get(entry.node, ()),
        last_action=decision.kind if decision else "",
        reason=decision.reason if decision else "",
        rank=decision.rank if decision else 0,
        cooldown=max(0, *waits),
        expandable=entry.level > 0 and not tree.is_sealed(entry.node),
        collapsible=_collapsible(entry, context, tree),
        protected=entry.end > context.tail_start,
        pinned="pin" in overrides,
        forbidden=overrides[0] == "forbid",
        residency=allocator.refocus - state.residency.get(entry.node, allocator.refocus),
        delta_nll=measured.gain if measured else None,
        delta_nll_error=measured.error if measured else None,
        source=_main_source(entry, tree),
        inherited=entry.node in state.scores and entry.node not in state.parts,
    )


def _by_node(decisions: tuple[Decision, ...]) -> Decisions:
    return {(decision.node, decision.kind): decision for decision in decisions}


def _decision_of(entry: Entry, decisions: Decisions, block_size: int) -> Decision | None:
    """Return the decision that concerns an entry, or None.

    An action that put it in place comes first, then what was decided about it; for a gist a decision about itself comes
    before one about its group.
    """
    parent = parent_of(entry.node, block_size)
    closed, opened = decisions.get((entry.node, "collapse")), decisions.get((parent, "expand"))
    if closed is not None and closed.applied:
        return closed
    ways = [decisions.get((entry.node, "expand")), decisions.get((parent, "collapse"))]
    if entry.level == 0:
        ways.reverse()
    if opened is not None and opened.applied:
        ways.insert(min(entry.level, 1), opened)
    return next((decision for decision in ways if decision is not None), None)


def _collapsible(entry: Entry, context: WorkingContext, tree: LifetimeTree) -> bool:
    """Return whether a complete gist outside the tail covers the entry."""
    parent = parent_of(entry.node, context.block_size)
    return parent.index < tree.count(parent.level) and tree.span(parent)[1] <= context.tail_start


def _collapse_cost(entry: Entry, context: WorkingContext) -> int:
    """Return the (negative) change in positions of collapsing the entry's parent, if all siblings are at its level."""
    siblings = 1 if entry.level == 0 else context.block_size
    return context.collapse_cost([entry] * siblings)


def _main_source(entry: Entry, tree: LifetimeTree) -> str | None:
    """Return the memory block that most of an entry came from; None above level 2, where too many are mixed."""
    if entry.level > 2:
        return None
    shares: Counter[str] = Counter()
    for span in tree.sources(entry.start, entry.end):
        if span.source is not None:
            shares[span.source] += span.end - span.start
    return shares.most_common(1)[0][0] if shares else None


def _sentence(decision: Decision | None, refocuses: int) -> str:
    """Return the sentence that says what was decided about an entry."""
    if decision is None:
        return f"Not judged yet: {'it came after the last refocus' if refocuses else 'there was no refocus so far'}."
    done = {"expand": "opened", "collapse": "closed"}[decision.kind]
    detail = decision.detail
    if decision.applied:
        return f"{done.capitalize()}: {detail or f'number {decision.rank} of {decision.of} by score'}."
    return f"Not {done}: {detail or REASON_SENTENCES[decision.reason]}."


def _would(shown: EntryView, decision: Decision | None, state: FocusState, settings: FocusSettings) -> str:
    """Return the sentence that says what would change an entry at the next refocus."""
    if shown.protected:
        end = (shown.index + 1) * settings.block_size
        waits = end + settings.tail_blocks * settings.block_size - state.context.lifetime
        return f"The latest text is always read word for word; in {waits} tokens this may become a gist."
    reason = decision.reason if decision is not None else ""
    steps = []
    if decision is not None and reason == "budget" and decision.kind != "collapse":
        room = state.context.free - settings.cadence
        free = max(0, room - reserve(state.context, settings, settings.cadence))
        steps.append(f"it opens once {max(1, decision.cost - free)} more positions of the window are free")
    elif decision is not None and reason == "n_diff":
        turn = {"expand": "opens", "collapse": "closes"}[decision.kind]
        steps.append(f"it {turn} at the next refocus if its score is still among the first")
    elif reason == "mixed_siblings":
        steps.append("it closes once all the passages that its gist replaces are as fine as it is")
    elif decision is not None and decision.detail == FORGOTTEN:
        steps.append("it opens once its text is restored (`focus forget --restore`)")
    elif reason == "stale_gist":
        steps.append("it closes once its gist is computed again (`focus rebuild`)")
    elif settings.unasked == "pair" and not state.question:
        if shown.level == 1 and shown.expandable and not shown.forbidden:
            steps.append("while nothing is asked, it opens when its score is the highest of all gists")
        elif shown.level:
            steps.append("it stays a gist while nothing is asked")
        elif not shown.pinned:
            steps.append("while nothing is asked, it closes when it is the block farthest back")
    else:
        if shown.expandable and not shown.forbidden:
            steps.append(f"it opens if its score rises above +{settings.tau_expand:.2f}")
        if shown.collapsible and not shown.pinned:
            beside = f"it and the {settings.block_size - 1} beside it become a single gist if their scores average"
            closes = beside if shown.level else "it becomes a gist if its score falls"
            steps.append(f"{closes} below −{settings.tau_collapse:.2f}")
    advice = "; ".join(steps) or "nothing changes it: there is no finer and no coarser form of it"
    if shown.cooldown:
        advice = f"changed lately, it stays as it is {say_stay(shown.cooldown)}; then {advice}"
    return f"{advice[0].upper()}{advice[1:]}."
