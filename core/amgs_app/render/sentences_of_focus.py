"""What came of an action in the working context, in one line for the status line."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from amgs_app.operations.results import (
    BranchList,
    Measured,
    Opened,
    Replayed,
    Resumed,
    RunPosition,
    SettingChanged,
    Steered,
    Stepped,
)
from amgs_focus.records import Refocus, with_sign
from amgs_focus.views import EntryExplanation, FocusView

NOTHING_ALIKE = "no block shares a word with the question"
UNTRAINED = "no trained gists exist for this model"


@singledispatch
def said(result: Any) -> str | None:
    """The line, None for a result of something else."""
    del result
    return None


@said.register
def _(result: Opened) -> str:
    view = result.view
    line = f"{result.source} is open: {view.lifetime:,} tokens held in {view.used:,} of {view.window:,}"
    return f"{line} · {UNTRAINED}" if view.untrained else line


@said.register
def _(result: Stepped) -> str:
    """How many tokens were decoded and what the refocuses among them did."""
    made = [record.refocus for record in result.records if record.refocus is not None]
    made += [result.refocus] if result.refocus is not None else []
    count = len(result.records)
    parts = ["1 token" if count == 1 else f"{count} tokens"] if count else []
    parts += [_refocused(made[-1])] if made else []
    parts += [NOTHING_ALIKE] if made and result.view.unanswered else []
    parts += ["the answer is finished"] if result.view.finished else []
    return " · ".join(parts)


def _refocused(made: Refocus) -> str:
    expanded = sum(each.kind == "expand" for each in made.applied)
    collapsed = len(made.applied) - expanded
    if not made.applied:
        return f"refocus {made.number}: nothing changed"
    return f"refocus {made.number}: {expanded} expanded, {collapsed} collapsed, swap {made.swap_rate:.2f}"


@said.register
def _(result: Steered) -> str:
    node, branch = result.node, _branched(result)
    if result.released:
        freed = {"pin": "unpinned: it may collapse again", "forbid": "released: it may expand again"}
        return f"{node} {freed.get(result.word, 'will be left alone at the next refocus')}{branch}"
    if result.in_tail and result.word in ("expand", "collapse"):
        return (
            f"{node} is part of the tail, which stays tokens: "
            f"it can {result.word} only once it has left the tail{branch}"
        )
    told = {
        "pin": f"{node} pinned: it will not collapse",
        "forbid": f"{node} forbidden: it will not expand",
        "expand": f"Will expand {node} at the next refocus",
        "collapse": f"Will collapse into {node} at the next refocus",
    }
    return told[result.word] + branch


def _branched(result: Steered | SettingChanged) -> str:
    view = result.view
    return "" if len(view.branches) < 2 else f" · on branch {view.branch}"


@said.register
def _(result: Measured) -> str:
    found = result.measurement
    return (
        f"{found.node}: detail is worth {with_sign(found.gain)} ± {found.error:.2f} nats per token "
        f"over {found.horizon} tokens"
    )


@said.register
def _(result: SettingChanged) -> str:
    return f"{result.key} is now {result.after} (was {result.before}){_branched(result)}"


@said.register
def _(result: RunPosition) -> str:
    view = result.view
    if result.how == "back":
        return f"{_tokens(result.steps)} taken back: step {view.position:,} of {view.head:,} on {view.branch}"
    if result.how == "branch":
        return f"Branch {view.branch} begins at step {view.position:,}"
    return f"On branch {view.branch}, step {view.position:,} of {view.head:,}"


@said.register
def _(result: BranchList) -> str:
    count = len(result.branches)
    many = "1 branch" if count == 1 else f"{count} branches"
    return f"{many}; on {result.view.branch} at step {result.view.step:,}"


@said.register
def _(result: Resumed) -> str:
    view = result.view
    branches = f", {len(view.branches)} branches" if len(view.branches) > 1 else ""
    return f"Resumed at step {view.position:,} on {view.branch}{branches}"


@said.register
def _(result: Replayed) -> str:
    return f"The replay agrees: {_tokens(result.steps)}, state {result.state_hash}"


@said.register
def _(result: EntryExplanation) -> str:
    return f"{result.entry.node}: {result.reason_text}"


@said.register
def _(result: FocusView) -> str:
    return f"{result.branch}: {result.lifetime:,}-token lifetime held in {result.used:,} of {result.window:,} slots"


def _tokens(count: int) -> str:
    return "1 token" if count == 1 else f"{count:,} tokens"
