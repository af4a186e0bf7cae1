"""Proposals about packs, and what was learned of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from amgs.text.plural import plural
from amgs_app.render.catalogue import entry
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from rich.text import Text

    from amgs.types.pack_learning import PackPolicy, PackProposal, PackProposals
    from amgs.types.pack_weights import PackCredits, PackWeights
    from amgs_app.render.figures.canvas import Canvas
    from amgs_app.results.memory import PackProposalList
    from amgs_app.session.operator import Operator

_PROPOSALS = "#:n number:n action packs* why* sure:score likely:score accepted≥:score propensity:score state"


def _rows(proposals: Sequence[PackProposal]) -> list[tuple[Any, ...]]:
    return [
        (
            one.place,
            one.number,
            one.action,
            " + ".join(one.packs),
            one.because,
            one.sure,
            one.likely,
            one.bound,
            one.propensity,
            one.state,
        )
        for one in proposals
    ]


def _drawn(operator: Operator, result: PackProposals, canvas: Canvas) -> Text:
    from amgs_app.render.figures.pack_proposals import proposals

    del operator
    return proposals(result.proposals, canvas)


@entry(figure=_drawn)
def pack_proposals(result: PackProposals) -> ResultTable:
    queued = f", queued as operation {result.operation}" if result.operation is not None else ""
    title = f"{plural(len(result.proposals), 'proposal')} by the {result.policy} policy{queued}"
    passed = f"{plural(len(result.passed_over), 'candidate')} passed over"
    notes = (
        passed if result.passed_over else "",
        ""
        if result.operation is not None or not result.proposals
        else "`pack propose --queue` lets them wait.",
    )
    return sheet(title, _PROPOSALS, _rows(result.proposals), notes)


def _list_drawn(operator: Operator, result: PackProposalList, canvas: Canvas) -> Text:
    from amgs_app.render.figures.pack_proposals import proposals

    del operator
    return proposals(result.proposals, canvas)


@entry(figure=_list_drawn)
def pack_proposal_list(result: PackProposalList) -> ResultTable:
    return sheet(plural(len(result.proposals), "proposal"), _PROPOSALS, _rows(result.proposals))


@entry()
def pack_policy(result: PackPolicy) -> ResultTable:
    rows: list[tuple[Any, ...]] = [
        (one.policy, one.value, one.low, one.high, one.effective, None, None) for one in result.values
    ]
    rows += [
        (one.action, None, one.bound, None, None, one.accepted, one.rejected)
        for one in result.decisions
        if one.accepted or one.rejected
    ]
    title = f"The {result.in_force} policy is in force: {result.because}"
    notes = (
        plural(result.rounds, "decision"),
        "A value is 1 for what is accepted, less the cost of what is not." if result.values else "",
        "Of an action, low is the share that is accepted at least." if result.rounds else "",
    )
    return sheet(
        title, "what* value:score low:score high:score rounds:score accepted:n rejected:n", rows, notes
    )


@entry()
def pack_credits(result: PackCredits) -> ResultTable:
    rows = [(one.use, f"{one.name}@{one.version}", one.credit, one.helped) for one in result.credits]
    notes = (
        f"Nats a token by which the answer is less likely without a pack, as {result.reader} reads it.",
        "`pack weights` reads what is noted; `undo` takes it back.",
    )
    title = f"{plural(len(rows), 'reading')} credited, operation {result.operation}: {result.query}"
    return sheet(title, "use:n pack* credit:score helped", rows, notes)


def _weights_drawn(operator: Operator, result: PackWeights, canvas: Canvas) -> Text:
    from amgs_app.render.figures.pack_weights import weights

    del operator
    return weights(result, canvas)


@entry(figure=_weights_drawn)
def pack_weights(result: PackWeights) -> ResultTable:
    rows: list[tuple[Any, ...]] = [
        (one.name, None, one.value, one.low, one.high, None, None) for one in result.weights
    ]
    rows += [(one.name, one.judged, one.offset, None, None, one.utility, one.bound) for one in result.packs]
    told = "better than none" if result.better else "not shown to be better than none"
    gain = (
        ""
        if result.gain is None
        else f"On the last third it gains {result.gain:+.3f} [{result.low:+.3f}, {result.high:+.3f}] nats a reading."
    )
    notes = (
        f"{plural(result.outcomes, 'outcome')}, {plural(result.left_out, 'verdict')} of whole sessions left out",
        gain,
        "For information only; nothing that chooses packs uses it."
        if rows
        else "`pack judge` notes an outcome, `pack credit` what an answer owes to each pack.",
    )
    columns = "what* judged:n weight:score low:score high:score utility:score least:score"
    return sheet(f"Learning from outcomes is {told}: {result.because}", columns, rows, notes)
