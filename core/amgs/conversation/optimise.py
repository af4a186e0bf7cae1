"""The read path: retrieve, plan under the budget, render. Nothing is written (context optimiser, L1)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from amgs.conversation import plan as plans
from amgs.conversation.atoms import atoms
from amgs.conversation.handles import handle
from amgs.conversation.keeping import sessions
from amgs.conversation.ledger import ledger
from amgs.conversation.material import Draft, Material
from amgs.conversation.protection import Protection, protection
from amgs.conversation.relevance import rates
from amgs.conversation.render import gap, masked, render
from amgs.conversation.strategies import STRATEGIES
from amgs.conversation.tokens import MessageCounter
from amgs.errors import ImpossibleBudgetError
from amgs.types.conversation import (
    ContextMessage,
    ContextSpan,
    ContextStrategy,
    Message,
    OptimisedContext,
    SpanFate,
)

RECENT = 6
"""So many of the last messages are kept before others."""
SOFT = 0.8
"""Once a plan no longer fits, the next one fills this share of the budget, so that it lasts for some turns."""


RECALLED = 4
"""So many of the atoms that answer a new query best come back into a plan that is kept, where there is room."""


def optimise(
    name: str,
    messages: Sequence[Message],
    query: str,
    budget: int,
    strategy: ContextStrategy,
    counter: MessageCounter,
    worths: Callable[[], Sequence[float]],
    previous: str = "",
    restored: Collection[int] = (),
) -> OptimisedContext:
    """What of the messages a model should read for a query. worths: see `relevance`; asked where something must go.

    previous: the plan of the context before this one, kept while it fits. restored: numbers of messages that must stay.
    Raises ImpossibleBudgetError where the budget does not hold even what must be kept.
    """
    costs = [counter.cost(message) for message in messages]
    lines = _lines(messages, costs, counter)
    short = [lines[place].tokens if place in lines else cost for place, cost in enumerate(costs)]
    longest = messages[-1].number if messages else 1
    widest = gap(longest, longest + 1, counter).tokens
    protected = protection(messages, RECENT, restored)
    together = atoms(messages)
    shown: Sequence[float] = [0.0] * len(messages)
    replanned = ""
    fates: list[SpanFate] = plans.decoded(previous, messages) if previous else ["kept"] * len(messages)
    because = ["as before" if previous else "everything fits"] * len(messages)
    for atom in together if previous else ():
        if any(messages[place].number in restored for place in atom):
            for place in atom:
                fates[place], because[place] = "kept", "restored"
    used = sum(m.tokens for m in render(messages, fates, costs, lines, counter))
    if used > budget:
        if previous:
            replanned = f"what was kept before takes {used:,} of {budget:,} tokens by now"
        shown = worths()
        given = rates(shown, costs, sessions(messages)).tolist() if any(shown) else []
        target = int(budget * SOFT) if previous else budget
        draft = _drafted(Material(messages, costs, short, protected, together, given, widest, target), budget)
        STRATEGIES[strategy](draft)
        _fill(draft)
        fates, because = draft.fates, draft.because
    elif previous and "dropped" in fates:
        shown = worths()
        given = rates(shown, costs, sessions(messages)).tolist() if any(shown) else []
        material = Material(messages, costs, short, protected, together, given, widest, budget)
        if back := _recalled(Draft.of(material, fates, used), because) if given else 0:
            replanned = f"{back} of what was left out came back for the question"
    made = render(messages, fates, costs, lines, counter)
    return OptimisedContext(
        conversation=name,
        query=query,
        strategy=strategy,
        budget=budget,
        tokens=sum(m.tokens for m in made),
        history=sum(costs),
        counter=counter.name,
        estimated=counter.estimated,
        messages=made,
        spans=_spans(messages, fates, because, costs, short, shown),
        ledger=ledger(fates, costs, short, made),
        plan=plans.encoded(messages, fates),
        stable_prefix=_stable(messages, previous, made, costs, lines, counter),
        replanned=replanned,
    )


def _recalled(draft: Draft, because: list[str]) -> int:
    """Keep the atoms that answer the query best for their tokens, where they are dropped and there is room; how many
    messages came back.
    """
    material = draft.material
    best = sorted(
        material.atoms, key=lambda a: (-material.value(a) / sum(material.costs[p] for p in a), -a[-1])
    )
    back = 0
    for atom in best[:RECALLED]:
        if draft.is_dropped(atom) and draft.fits(atom):
            draft.keep(atom, "answers the query; came back for it")
            back += len(atom)
            for place in atom:
                because[place] = draft.because[place]
    return back


def _lines(
    messages: Sequence[Message], costs: Sequence[int], counter: MessageCounter
) -> dict[int, ContextMessage]:
    """The outputs of tools as one line each, where that is shorter, by place."""
    tools = {call.id: call.name for message in messages for call in message.calls}
    made = {
        place: masked(message, tools.get(message.answers, ""), costs[place], counter)
        for place, message in enumerate(messages)
        if message.role == "tool"
    }
    return {place: line for place, line in made.items() if line.tokens < costs[place]}


def _drafted(material: Material, budget: int) -> Draft:
    """A draft in which what is CRITICAL is kept; raises ImpossibleBudgetError where that is too much."""
    draft = Draft(material)
    critical = [a for a in material.atoms if material.level(a) == Protection.CRITICAL]
    for atom in critical:
        told = next(
            why for level, why in (material.protected[p] for p in atom) if level == Protection.CRITICAL
        )
        draft.keep(atom, told)
    if draft.used > budget:
        largest = max((p for a in critical for p in a), key=lambda p: material.costs[p])
        number = material.messages[largest].number
        raise ImpossibleBudgetError(
            f"What must be kept takes {draft.used:,} tokens, {material.costs[largest]:,} of them "
            f"{handle(number, number)}; the budget is {budget:,}.",
            way_out=f"Give at least {draft.used:,} tokens, or shorten or unpin what must be kept.",
        )
    return draft


def _fill(draft: Draft) -> None:
    """Keep what takes no more room than the line that would mark its absence."""
    for atom in draft.material.atoms:
        if draft.is_dropped(atom) and draft.cost_of(atom) <= 0:
            draft.keep(atom, "shorter than the mark of a gap")


def _spans(
    messages: Sequence[Message],
    fates: Sequence[SpanFate],
    because: Sequence[str],
    costs: Sequence[int],
    short: Sequence[int],
    worth: Sequence[float],
) -> tuple[ContextSpan, ...]:
    told = [why or "worth less than what was kept" for why in because]
    starts = [
        place
        for place in range(len(messages))
        if place == 0 or (fates[place], told[place]) != (fates[place - 1], told[place - 1])
    ]
    made = []
    for start, stop in zip(starts, [*starts[1:], len(messages)], strict=True):
        first, last, fate = messages[start].number, messages[stop - 1].number, fates[start]
        shown = {"kept": costs, "masked": short}.get(fate, [0] * len(messages))
        made.append(
            ContextSpan(
                handle(first, last),
                first,
                last,
                fate,
                told[start],
                max(worth[start:stop]),
                sum(costs[start:stop]),
                sum(shown[start:stop]),
            )
        )
    return tuple(made)


def _stable(
    messages: Sequence[Message],
    previous: str,
    made: Sequence[ContextMessage],
    costs: Sequence[int],
    lines: dict[int, ContextMessage],
    counter: MessageCounter,
) -> float:
    """How much of what the previous plan sent stands unchanged at the beginning, by bytes."""
    if not previous:
        return 1.0
    known = sum(m.number <= plans.until(previous) for m in messages)
    fates = plans.decoded(previous, messages)[:known]
    sent = render(messages[:known], fates, costs[:known], lines, counter)
    total = sum(map(_bytes, sent))
    same = 0
    for one, other in zip(sent, made, strict=False):
        if one != other:
            break
        same += _bytes(one)
    return same / total if total else 1.0


def _bytes(message: ContextMessage) -> int:
    calls = sum(len(c.name.encode()) + len(c.arguments.encode()) for c in message.calls)
    return len(message.text.encode()) + calls + 1
