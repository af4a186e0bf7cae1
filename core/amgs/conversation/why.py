"""Why messages have their fate, what would have to change for them to be kept, and how two contexts differ.

Nothing is estimated: each answer is a plan that was made and looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Final

from amgs.conversation.citing import handle
from amgs.errors import ImpossibleBudgetError
from amgs.types.conversation import FateChange, OptimisedContext, SpanFate, SpanReason

Plan = Callable[[int, Collection[int], Mapping[int, float]], OptimisedContext]
"""The context for a budget, the numbers of messages that must stay, and the worth of each message by number."""

_STEPS: Final = 100
"""How finely the worth is told that would have been enough."""
_RANK: Final[Mapping[SpanFate, int]] = {"dropped": 0, "masked": 1, "digested": 2, "kept": 3}


def fates_of(context: OptimisedContext) -> dict[int, SpanFate]:
    """The fate of each message, by number."""
    return {n: span.fate for span in context.spans for n in range(span.first, span.last + 1)}


def changes(before: OptimisedContext, after: OptimisedContext, costs: Mapping[int, int]) -> tuple[FateChange, ...]:
    """Where two contexts of the same messages differ: runs of neighbours with the same two fates.

    costs: tokens of each message, by number.
    """
    one, other = fates_of(before), fates_of(after)
    runs: list[list[int]] = []
    for number in sorted(one.keys() & other.keys()):
        if one[number] == other[number]:
            continue
        if runs and runs[-1][-1] == number - 1 and all(f[number - 1] == f[number] for f in (one, other)):
            runs[-1].append(number)
        else:
            runs.append([number])
    return tuple(
        FateChange(
            handle(run[0], run[-1]), run[0], run[-1], one[run[0]], other[run[0]], sum(costs[number] for number in run)
        )
        for run in runs
    )


def reason(
    first: int, last: int, budget: int, worths: Mapping[int, float], costs: Mapping[int, int], plan: Plan
) -> SpanReason:
    """Why the messages from first to last have their fates, and what would keep all of them whole.

    worths, costs: of all messages, by number; all worths are 0 where the strategy does not look at them.
    """
    now = plan(budget, (), worths)
    wanted = range(first, last + 1)

    def keeps(context: OptimisedContext) -> bool:
        found = fates_of(context)
        return all(found[number] == "kept" for number in wanted)

    kept = keeps(now)
    larger = enough = None
    displaced: tuple[FateChange, ...] = ()
    impossible = ""
    if not kept:
        larger = _least(budget, max(budget + 1, now.history), lambda tokens: keeps(plan(tokens, (), worths)))
        own = max(worths[number] for number in wanted)

        def worth_so_much(steps: int) -> bool:
            raised = {number: max(worths[number], steps / _STEPS) for number in wanted}
            return keeps(plan(budget, (), {**worths, **raised}))

        if any(worths.values()) and worth_so_much(_STEPS):
            enough = _least(int(own * _STEPS), _STEPS, worth_so_much) / _STEPS
        try:
            moved = changes(now, plan(budget, wanted, worths), costs)
            displaced = tuple(one for one in moved if _RANK[one.after] < _RANK[one.before])
        except ImpossibleBudgetError as error:
            impossible = error.message
    return SpanReason(
        now.conversation,
        handle(first, last),
        now.query,
        now.strategy,
        budget,
        kept,
        tuple(span for span in now.spans if span.first <= last and span.last >= first),
        sum(costs[number] for number in wanted),
        now.estimated,
        larger,
        enough,
        displaced,
        impossible,
    )


def _least(fails: int, holds: int, test: Callable[[int], bool]) -> int:
    """A number above `fails`, at most `holds`, for which a test holds while it does not for the one before."""
    while holds - fails > 1:
        middle = (fails + holds) // 2
        fails, holds = (fails, middle) if test(middle) else (middle, holds)
    return holds
