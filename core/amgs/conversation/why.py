"""Explain why messages were kept, shortened or dropped, what would keep them, and how two contexts differ.

Nothing is estimated: each answer comes from a plan that was really made.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from amgs.conversation.citing import handle
from amgs.errors import ImpossibleBudgetError
from amgs.types.conversation import FateChange, OptimisedContext, SpanFate, SpanReason

Plan = Callable[[int, Collection[int]], OptimisedContext]
"""The context for a budget and the numbers of messages that must stay."""

_RANK: Final[Mapping[SpanFate, int]] = {"dropped": 0, "masked": 1, "digested": 2, "kept": 3}


def find_changes(before: OptimisedContext, after: OptimisedContext) -> tuple[FateChange, ...]:
    """Find where two contexts of the same messages differ: runs of neighbours with the same two fates."""
    a, b = _fates(before), _fates(after)
    changed = ((number, a[number], b[number]) for number in sorted(a.keys() & b.keys()) if a[number] != b[number])
    costs = dict(zip(a, before.costs, strict=True))
    changes: list[FateChange] = []
    for number, was, now in changed:
        last = changes[-1] if changes else None
        first = last.first if last and (last.last, last.before, last.after) == (number - 1, was, now) else number
        if first < number:
            changes.pop()
        tokens = sum(costs[n] for n in range(first, number + 1))
        changes.append(FateChange(handle(first, number), first, number, was, now, tokens))
    return tuple(changes)


def reason(first: int, last: int, budget: int, plan: Plan) -> SpanReason:
    """Say why the messages from first to last have their fates, and what would keep all of them whole."""
    now = plan(budget, ())
    wanted = range(first, last + 1)

    def keeps(context: OptimisedContext) -> bool:
        fates = _fates(context)
        return all(fates[number] == "kept" for number in wanted)

    is_whole, larger, impossible = keeps(now), None, ""
    displaced: tuple[FateChange, ...] = ()
    if not is_whole:
        larger = _least(budget, max(budget + 1, now.history), lambda tokens: keeps(plan(tokens, ())))
        try:
            moved = find_changes(now, plan(budget, wanted))
            displaced = tuple(change for change in moved if _RANK[change.after] < _RANK[change.before])
        except ImpossibleBudgetError as error:
            impossible = error.message
    return SpanReason(
        now.conversation,
        handle(first, last),
        now.query,
        now.strategy,
        budget,
        is_whole,
        tuple(span for span in now.spans if span.first <= last and span.last >= first),
        sum(now.costs[first - 1 : last]),
        now.estimated,
        larger,
        displaced,
        impossible,
    )


def _fates(context: OptimisedContext) -> dict[int, SpanFate]:
    """Give the fate of each message, by number."""
    return {number: span.fate for span in context.spans for number in range(span.first, span.last + 1)}


def _least(fails: int, holds: int, test: Callable[[int], bool]) -> int:
    """Return by bisection a number in (fails, holds] that passes a test while the number before does not."""
    while holds - fails > 1:
        middle = (fails + holds) // 2
        fails, holds = (fails, middle) if test(middle) else (middle, holds)
    return holds
