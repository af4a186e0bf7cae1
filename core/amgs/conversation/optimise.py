"""The read path: retrieve, plan under the budget, render. Nothing is written (context optimiser, L1).

A plan is given to the caller as one word, like `700:k1-5,9;m7;d12.0.2`: of 700 messages, of which some are kept or
masked, and of #12 its pieces 0 and 2 are cited. Earlier versions wrote `700@650:…` for one that was made when there
were 650.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace

from amgs.conversation.citing import handle, pieces_of, runs, write_spans
from amgs.conversation.keeping import sessions
from amgs.conversation.material import DROPPED, KEPT, MASKED, Cited, Draft, Fate, Material, MessageCounter, spans_of
from amgs.conversation.protection import Protection, atoms, find_important, protection
from amgs.conversation.relevance import rate
from amgs.conversation.render import gap, mark_cost, mask_output, render
from amgs.conversation.strategies import cite_asked, fill
from amgs.conversation.summaries import AbstractiveSummariser, key_sentences
from amgs.errors import ImpossibleBudgetError, UsageError
from amgs.types.conversation import (
    CONTEXT_CONFIGURATIONS,
    ContextMessage,
    ContextSettings,
    ContextSpan,
    ContextStrategy,
    LedgerRow,
    Message,
    OptimisedContext,
)

_PLAN = re.compile(r"(\d{1,9})(?:@\d{1,9})?:(?:k([\d,-]*))?(?:;m([\d,-]*))?(?:;d([\d,.]*))?")


def encode(messages: Sequence[Message], fates: Sequence[Fate]) -> str:
    """The fates of all messages of a conversation."""
    told = list(zip(messages, fates, strict=True))
    kept, masked = (write_spans(runs(m.number for m, own in told if own == fate)) for fate in (KEPT, MASKED))
    cites = [".".join(map(str, (m.number, *own[1]))) for m, own in told if own[0] == "digested"]
    last = messages[-1].number if messages else 0
    return f"{last}:k{kept}" + (f";m{masked}" if masked else "") + (f";d{','.join(cites)}" if cites else "")


def decode(plan: str, messages: Sequence[Message]) -> list[Fate]:
    """The fates of the messages; those that came after the plan was made are kept. Raises UsageError for no plan."""
    found = _PLAN.fullmatch(plan)
    if found is None:
        raise UsageError(
            f"{plan[:40]!r} is no plan.",
            title="Not a plan",
            way_out="Give back what an earlier context has as its plan, or nothing.",
        )
    until, kept, masked, cites = int(found[1]), _numbers(found[2]), _numbers(found[3]), _cites(found[4])
    fates = []
    for message in messages:
        if message.number > until or message.number in kept:
            fates.append(KEPT)
        elif message.number in masked:
            fates.append(MASKED)
        else:
            fates.append(_decode_cites(message, cites.get(message.number, ())))
    return fates


def until(plan: str) -> int:
    """The number of the last message that a plan knows."""
    return int(plan.partition(":")[0].partition("@")[0])


def _decode_cites(message: Message, given: Cited) -> Fate:
    size = len(pieces_of(message.text, message.at)) if given and not message.calls else 0
    pieces = tuple(sorted({number for number in given if number < size}))
    return ("digested", pieces) if pieces else DROPPED


def _numbers(text: str | None) -> set[int]:
    spans = [one.split("-") for one in (text or "").split(",") if one]
    found = set[int]()
    for span in spans:
        first, last = span[0], span[-1]
        if first.isdecimal() and last.isdecimal() and int(last) - int(first) < 10_000_000:
            found.update(range(int(first), int(last) + 1))
    return found


def _cites(text: str | None) -> dict[int, Cited]:
    given = [[int(n) for n in one.split(".") if n and len(n) < 10] for one in (text or "").split(",") if one]
    return {one[0]: tuple(one[1:]) for one in given if one}


_TRIES = 4
DEFAULT = CONTEXT_CONFIGURATIONS["default"]
Topics = Callable[[], Sequence[tuple[int, int]]]


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
    topics: Topics | None = None,
    summariser: AbstractiveSummariser | None = None,
    settings: ContextSettings = DEFAULT,
) -> OptimisedContext:
    """What of the messages a model should read for a query. worths: see `relevance`; asked where something must go.

    previous: the plan of the context before this one, kept while it fits. restored: numbers of messages that must stay.
    topics: (start, end) of each, by places; sessions unless given. summariser: see `render.digest`.
    Raises ImpossibleBudgetError where the budget does not hold even what must be kept.
    """
    costs = [counter.cost(message) for message in messages]
    lines = _lines(messages, costs, counter)
    shown: Sequence[float] = [0.0] * len(messages)
    of_session = sessions(messages)

    def render_fates(fates: Sequence[Fate], known: int) -> tuple[ContextMessage, ...]:
        writer = summariser if strategy == "abstractive" else None
        return render(messages[:known], fates[:known], costs[:known], lines, counter, writer)

    def material(room: int) -> Material:
        nonlocal shown
        shown = worths()
        given = rate(shown).tolist() if any(shown) else []
        longest = messages[-1].number if messages else 1
        matters = find_important(messages) if settings.medium_share else None
        return Material(
            messages,
            costs,
            [lines[place].tokens if place in lines else cost for place, cost in enumerate(costs)],
            protection(messages, settings.recent, restored, matters),
            together,
            given,
            gap(longest, longest + 1, counter).tokens,
            room,
            ["" if m.role == "tool" or m.calls else m.role for m in messages],
            mark_cost(longest, counter),
            counter.count,
            query,
            topics or (lambda: spans_of(of_session)),
            settings,
        )

    together = atoms(messages)
    before = _fates(previous, messages, lines) if previous else [KEPT] * len(messages)
    replanned = ""
    fates = list(before)
    because = ["as before" if previous else "everything fits"] * len(messages)
    for atom in together if previous else ():
        if any(messages[place].number in restored for place in atom):
            for place in atom:
                fates[place], because[place] = KEPT, "restored"
    made = render_fates(fates, len(messages))

    def recall(planned: Material) -> int:
        nonlocal fates, because, made
        draft = Draft.of(planned, list(fates), _tokens(made))
        draft.because = list(because)
        back = _recall(draft, settings.recalled) + cite_asked(draft)
        again = render_fates(draft.fates, len(messages)) if back else made
        if not back or _tokens(again) > budget:  # a line may shrink by less than what is taken out of it
            return 0
        fates, because, made = draft.fates, draft.because, again
        return back

    used = _tokens(made)
    room = int(budget * settings.fill)
    known = until(previous) if previous else 0
    if used > room:
        if previous:
            replanned = f"what was kept before takes {used:,} of {room:,} tokens by now"
        target = int(room * settings.soft) if previous else room
        planned = material(target)
        for _ in range(_TRIES):
            draft = _draft(replace(planned, budget=target), budget)
            fill(draft, strategy)
            _fill(draft)
            fates, because = draft.fates, draft.because
            made = render_fates(fates, len(messages))
            if (over := _tokens(made) - budget) <= 0:
                break
            target -= over  # a tokenizer may count more for a text than for its parts
        if any(fate == "digested" for fate, _ in fates) and planned.rates:
            # What is cited beside others takes less than was planned: the next question of the kind finds no more room.
            recall(replace(planned, budget=room))
    elif previous and any(fate in ("dropped", "digested") for fate, _ in fates):
        planned = material(room)
        if back := recall(planned) if planned.rates else 0:
            replanned = f"{back} of what was left out came back for the question"
    short = [lines[place].tokens if place in lines else cost for place, cost in enumerate(costs)]
    sent = render_fates(before, sum(m.number <= known for m in messages)) if previous else ()
    stable, resent = _compare_sent(sent, made)
    return OptimisedContext(
        conversation=name,
        query=query,
        strategy=strategy,
        budget=budget,
        tokens=_tokens(made),
        history=sum(costs),
        counter=counter.name,
        estimated=counter.estimated,
        messages=made,
        spans=_spans(messages, fates, because, costs, short, shown, made),
        ledger=ledger(fates, costs, short, made),
        plan=encode(messages, fates),
        stable_prefix=stable,
        replanned=replanned,
        costs=tuple(costs),
        worths=tuple(map(float, shown)),
        resent=resent,
        dropped_summary=summarise_dropped([m for m, fate in zip(messages, fates, strict=True) if fate == DROPPED]),
    )


_SUMMARISED, _SENTENCES = 60, 4
"""Messages that were left out, the latest, of which so many sentences are told."""


def summarise_dropped(messages: Sequence[Message]) -> str:
    """The sentences of messages that weigh most, in the order of time, each with its handle."""
    said = [m for m in messages if m.role in ("user", "assistant") and m.text.strip()][-_SUMMARISED:]
    (found,) = key_sentences([m.text for m in said], [(0, len(said))], _SENTENCES)
    told = []
    for one in sorted(found, key=lambda one: (one.place, one.start)):
        message = said[one.place]
        told.append(f"{handle(message.number, message.number)} {' '.join(message.text[one.start : one.end].split())}")
    return " ".join(told)


def _fates(plan: str, messages: Sequence[Message], lines: Mapping[int, ContextMessage]) -> list[Fate]:
    """The fates of a plan; what it masks and nothing would be saved by is whole."""
    found = decode(plan, messages)
    return [KEPT if fate == MASKED and place not in lines else fate for place, fate in enumerate(found)]


def _tokens(made: Sequence[ContextMessage]) -> int:
    return sum(one.tokens for one in made)


def _recall(draft: Draft, most: int) -> int:
    """Keep the atoms that answer the query best for their tokens, where they are not whole and there is room; how many
    messages came back.
    """
    material = draft.material
    best = sorted(material.atoms, key=lambda a: (-material.value(a) / sum(material.costs[p] for p in a), -a[-1]))
    back = 0
    for atom in best[:most]:
        partly = any(draft.fates[place][0] == "digested" for place in atom)
        if (partly or draft.is_dropped(atom)) and draft.fits(atom):
            back += sum(draft.fates[place] != KEPT for place in atom)
            draft.keep(atom, "answers the query; came back for it")
    return back


def _lines(messages: Sequence[Message], costs: Sequence[int], counter: MessageCounter) -> dict[int, ContextMessage]:
    """The outputs of tools as one line each, where that is shorter, by place."""
    tools = {call.id: call.name for message in messages for call in message.calls}
    made = {
        place: mask_output(message, tools.get(message.answers, ""), costs[place], counter)
        for place, message in enumerate(messages)
        if message.role == "tool"
    }
    return {place: line for place, line in made.items() if line.tokens < costs[place]}


def _draft(material: Material, budget: int) -> Draft:
    """A draft in which what is CRITICAL is kept; raises ImpossibleBudgetError where that is too much."""
    draft = Draft(material)
    critical = [a for a in material.atoms if material.level(a) == Protection.CRITICAL]
    for atom in critical:
        told = (one.because for one in (material.protected[p] for p in atom) if one.level == Protection.CRITICAL)
        draft.change(material.protect(atom), next(told))
    if draft.used > budget:
        largest = max((p for a in critical for p in a), key=lambda p: material.costs[p])
        number, size = material.messages[largest].number, material.costs[largest]
        most = f", {size:,} of them {handle(number, number)}" if 2 * size > draft.used else ""
        raise ImpossibleBudgetError(
            f"What must be kept takes {draft.used:,} tokens{most}; the budget is {budget:,}.",
            way_out=f"Give at least {draft.used:,} tokens, or shorten or unpin what must be kept.",
        )
    return draft


def _fill(draft: Draft) -> None:
    """Keep what takes no more room than what would stand for it: the mark of a gap, or citations."""
    for atom in draft.material.atoms:
        if not draft.is_kept(atom) and draft.cost_of(atom) <= 0:
            draft.keep(atom, "shorter than what would stand for it")


def _spans(
    messages: Sequence[Message],
    fates: Sequence[Fate],
    because: Sequence[str],
    costs: Sequence[int],
    short: Sequence[int],
    worth: Sequence[float],
    made: Sequence[ContextMessage],
) -> tuple[ContextSpan, ...]:
    """Runs of one fate and reason. The tokens of a line that cites several messages count to the first of them."""
    told = [why or "worth less than what was kept" for why in because]
    starts = [
        place
        for place in range(len(messages))
        if place == 0 or (fates[place][0], told[place]) != (fates[place - 1][0], told[place - 1])
    ]
    lines = {one.cited[0]: one.tokens for one in made if one.cited}
    cited = [lines.get(message.number, 0) for message in messages]
    found = []
    for start, stop in zip(starts, [*starts[1:], len(messages)], strict=True):
        first, last, fate = messages[start].number, messages[stop - 1].number, fates[start][0]
        shown = {"kept": costs, "masked": short, "digested": cited}.get(fate, [0] * len(messages))
        found.append(
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
    return tuple(found)


def _compare_sent(sent: Sequence[ContextMessage], made: Sequence[ContextMessage]) -> tuple[float, int]:
    """How much of what was sent before stands unchanged at the beginning, by bytes; the tokens of the rest."""
    total = sum(map(_bytes, sent))
    same = next((n for n, (a, b) in enumerate(zip(sent, made, strict=False)) if a != b), min(len(sent), len(made)))
    stable = sum(map(_bytes, sent[:same])) / total if total else 1.0
    return stable, _tokens(sent[same:])


def _bytes(message: ContextMessage) -> int:
    calls = sum(len(c.name.encode()) + len(c.arguments.encode()) for c in message.calls)
    return len(message.text.encode()) + calls + 1


def ledger(
    fates: Sequence[Fate], costs: Sequence[int], short: Sequence[int], made: Sequence[ContextMessage]
) -> tuple[LedgerRow, ...]:
    """Rows for what was read, masked, digested, left out and marked. short: tokens of each message as one line."""
    size = len(fates)
    masked, digested, dropped = (
        [place for place in range(size) if fates[place][0] == fate] for fate in ("masked", "digested", "dropped")
    )
    gaps = [one for one in made if one.fate == "dropped"]
    rows = [LedgerRow("history", sum(costs), 0, 0, sum(costs), size)]

    def stage(name: str, taken: int, added: int, messages: int, because: str) -> None:
        before = rows[-1].after
        rows.append(LedgerRow(name, before, taken, added, before - taken + added, messages, because))

    stage(
        "mask",
        sum(costs[place] for place in masked),
        sum(short[place] for place in masked),
        size,
        f"outputs of tools as one line: {len(masked):,}" if masked else "",
    )
    if digested:
        stage(
            "digest",
            sum(costs[place] for place in digested),
            sum(one.tokens for one in made if one.fate == "digested"),
            size,
            f"messages cited in part: {len(digested):,}",
        )
    stage(
        "select",
        sum(costs[place] for place in dropped),
        0,
        size - len(dropped),
        f"messages left out: {len(dropped):,}" if dropped else "",
    )
    stage("render", 0, sum(one.tokens for one in gaps), len(made), f"marks of gaps: {len(gaps):,}" if gaps else "")
    return tuple(rows)
