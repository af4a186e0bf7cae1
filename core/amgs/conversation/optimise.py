"""Choose what of a conversation a model should read within a budget: rate the messages, plan, render. Writes nothing.

The API and the gateway call `optimise`. Its plan is text such as `700:k1-5,9;m7;d12.0.2`: of 700 messages #1-5 and #9
stay, #7 is masked, of #12 the pieces 0 and 2 are cited, and the others are dropped. The caller passes it back with the
next question, so that what a provider has cached stays the same. Plans of earlier versions (`700@650:…`) must still be
read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import groupby, takewhile

from amgs.conversation.citing import handle, pieces_of, runs, write_spans
from amgs.conversation.material import DROPPED, KEPT, MASKED, Cited, Draft, Fate, Material, MessageCounter, spans_of
from amgs.conversation.messages import number_sessions
from amgs.conversation.protection import Protection, find_important, group_atoms, protect_messages
from amgs.conversation.relevance import odds_of
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
    SpanFate,
)

_PLAN = re.compile(r"(\d{1,9})(?:@\d{1,9})?:(?:k([\d,-]*))?(?:;m([\d,-]*))?(?:;d([\d,.]*))?")


def encode_plan(messages: Sequence[Message], fates: Sequence[Fate]) -> str:
    """Return the fates of all messages as the text of a plan."""
    pairs = list(zip(messages, fates, strict=True))
    whole, masked = (write_spans(runs(m.number for m, own in pairs if own == fate)) for fate in (KEPT, MASKED))
    cites = [".".join(map(str, (m.number, *own[1]))) for m, own in pairs if own[0] == "digested"]
    last = messages[-1].number if messages else 0
    return f"{last}:k{whole}" + (f";m{masked}" if masked else "") + (f";d{','.join(cites)}" if cites else "")


def decode_plan(plan: str, messages: Sequence[Message]) -> list[Fate]:
    """Return the fate of each message by a plan; messages that came later stay. Raises UsageError where the text is not
    a plan.
    """
    match = _PLAN.fullmatch(plan)
    if match is None:
        raise UsageError(
            f"{plan[:40]!r} is no plan.",
            title="Not a plan",
            way_out="Give back what an earlier context has as its plan, or nothing.",
        )
    last_number, whole, masked, cites = (
        int(match[1]),
        _parse_numbers(match[2]),
        _parse_numbers(match[3]),
        _parse_cites(match[4]),
    )
    fates = []
    for message in messages:
        if message.number > last_number or message.number in whole:
            fates.append(KEPT)
        elif message.number in masked:
            fates.append(MASKED)
        else:
            fates.append(_decode_cites(message, cites.get(message.number, ())))
    return fates


def last_number(plan: str) -> int:
    """Return the number of the last message that a plan covers."""
    return int(plan.partition(":")[0].partition("@")[0])


def _decode_cites(message: Message, numbers: Cited) -> Fate:
    """Return the fate of a message of which these pieces are cited; dropped where it has none of them."""
    size = len(pieces_of(message.text, message.at)) if numbers and not message.calls else 0
    pieces = tuple(sorted({number for number in numbers if number < size}))
    return ("digested", pieces) if pieces else DROPPED


def _parse_numbers(text: str | None) -> set[int]:
    """Return the numbers in a list such as `1-5,9`; what is malformed is left out."""
    spans = [part.split("-") for part in (text or "").split(",") if part]
    numbers = set[int]()
    for span in spans:
        first, last = span[0], span[-1]
        if first.isdecimal() and last.isdecimal() and int(last) - int(first) < 10_000_000:
            numbers.update(range(int(first), int(last) + 1))
    return numbers


def _parse_cites(text: str | None) -> dict[int, Cited]:
    """Return the cited pieces by message from a list such as `12.0.2,15.1`."""
    citations = [
        [int(n) for n in citation.split(".") if n and len(n) < 10] for citation in (text or "").split(",") if citation
    ]
    return {numbers[0]: tuple(numbers[1:]) for numbers in citations if numbers}


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
    referred: Callable[[], Mapping[int, str]] | None = None,
) -> OptimisedContext:
    """Choose what of the messages a model should read for a query.

    worths: computes each message's worth (see `relevance`); called only where not everything fits. previous: the plan
    of the last context, which stays as long as it fits; "" for none. restored: numbers of messages that must stay.
    topics: (start, end) indexes of each topic; None: sessions. summariser: see `render.digest`.
    referred: reads the words of the last messages that refer to earlier ones, by the number of the latter.

    Raises ImpossibleBudgetError where even the required messages do not fit into the budget.
    """
    costs = [counter.cost(message) for message in messages]
    lines = _mask_lines(messages, costs, counter)
    short = [lines[place].tokens if place in lines else cost for place, cost in enumerate(costs)]
    shown: Sequence[float] = [0.0] * len(messages)
    together = group_atoms(messages)
    writer = summariser if strategy == "abstractive" else None

    def render_fates(fates: Sequence[Fate], known: int | None = None) -> tuple[ContextMessage, ...]:
        return render(messages[:known], fates[:known], costs, lines, counter, writer)

    def prepare(room: int) -> Material:
        """Return what a strategy needs to plan within `room` tokens; computes the worths."""
        nonlocal shown
        shown = worths()
        longest = messages[-1].number
        matters = find_important(messages, referred and referred()) if settings.open_share else None
        return Material(
            messages,
            costs,
            short,
            protect_messages(messages, settings.recent, restored, matters),
            together,
            odds_of(shown).tolist() if any(shown) else [],
            gap(longest, longest + 1, counter).tokens,
            room,
            ["" if m.role == "tool" or m.calls else m.role for m in messages],
            mark_cost(longest, counter),
            counter.count,
            query,
            topics or (lambda: spans_of(number_sessions(messages))),
            settings,
        )

    before = _read_fates(previous, messages, lines) if previous else [KEPT] * len(messages)
    fates, replanned = list(before), ""
    because = ["as before" if previous else "everything fits"] * len(messages)
    for place in (place for atom in together if previous for place in atom if _includes_any(messages, atom, restored)):
        fates[place], because[place] = KEPT, "restored"
    sent = render_fates(fates)

    def recall(planned: Material) -> int:
        """Bring back messages that answer the query, where they fit, and return how many."""
        nonlocal fates, because, sent
        draft = Draft.resume(planned, list(fates), list(because), _sum_tokens(sent))
        back = _recall(draft, settings.recalled) + cite_asked(draft)
        again = render_fates(draft.fates) if back else sent
        if not back or _sum_tokens(again) > budget:  # a line may shrink by less than what is taken out of it
            return 0
        fates, because, sent = draft.fates, draft.because, again
        return back

    used, room = _sum_tokens(sent), int(budget * settings.fill)
    if used > room:
        if previous:
            replanned = f"the previous plan takes {used:,} of {room:,} tokens by now"
        target = int(room * settings.soft) if previous else room
        planned = prepare(target)
        for _ in range(_TRIES):
            draft = _keep_critical(replace(planned, budget=target), budget)
            fill(draft, strategy)
            _fill_gaps(draft)
            fates, because = draft.fates, draft.because
            sent = render_fates(fates)
            if (over := _sum_tokens(sent) - budget) <= 0:
                break
            target -= over  # a tokenizer may count more for a text than for its parts
        if any(fate == "digested" for fate, _ in fates) and planned.rates:
            # Adjacent citations take less than planned: use the rest now, so that the next question does not.
            recall(replace(planned, budget=room))
    elif previous and any(fate in ("dropped", "digested") for fate, _ in fates):
        planned = prepare(room)
        if planned.rates and (back := recall(planned)):
            replanned = f"{back} of what was left out came back for the question"
    earlier = render_fates(before, sum(m.number <= last_number(previous) for m in messages)) if previous else ()
    stable, resent = _compare_sent(earlier, sent)
    return OptimisedContext(
        conversation=name,
        query=query,
        strategy=strategy,
        budget=budget,
        tokens=_sum_tokens(sent),
        history=sum(costs),
        counter=counter.name,
        estimated=counter.estimated,
        messages=sent,
        spans=_build_spans(messages, fates, because, costs, short, shown, sent),
        ledger=_build_ledger(fates, costs, sent),
        plan=encode_plan(messages, fates),
        stable_prefix=stable,
        replanned=replanned,
        costs=tuple(costs),
        worths=tuple(map(float, shown)),
        resent=resent,
        dropped_summary=summarise_dropped([m for m, fate in zip(messages, fates, strict=True) if fate == DROPPED]),
    )


def _includes_any(messages: Sequence[Message], atom: Sequence[int], numbers: Collection[int]) -> bool:
    return any(messages[place].number in numbers for place in atom)


_SUMMARISED, _SENTENCES = 60, 4
"""Latest dropped messages that are summarised, and the number of sentences quoted."""


def summarise_dropped(messages: Sequence[Message]) -> str:
    """Return the key sentences of dropped messages, in order of time, each with its message's handle."""
    turns = [m for m in messages if m.role in ("user", "assistant") and m.text.strip()][-_SUMMARISED:]
    (spans,) = key_sentences([m.text for m in turns], [(0, len(turns))], _SENTENCES)
    return " ".join(
        f"{handle(turns[span.place].number, turns[span.place].number)} "
        + " ".join(turns[span.place].text[span.start : span.end].split())
        for span in sorted(spans, key=lambda span: (span.place, span.start))
    )


def _read_fates(plan: str, messages: Sequence[Message], lines: Mapping[int, ContextMessage]) -> list[Fate]:
    """Return the fates of a plan; a masked message that is no shorter as a line stays whole."""
    fates = enumerate(decode_plan(plan, messages))
    return [KEPT if fate == MASKED and place not in lines else fate for place, fate in fates]


def _sum_tokens(sent: Sequence[ContextMessage]) -> int:
    return sum(message.tokens for message in sent)


def _recall(draft: Draft, most: int) -> int:
    """Keep whole those of the `most` atoms of highest value a token that are dropped or cited and fit; return how many
    messages came back.
    """
    material = draft.material
    best = sorted(material.atoms, key=lambda a: (-material.value(a) / sum(material.costs[p] for p in a), -a[-1]))
    back = 0
    for atom in best[:most]:
        partly = any(draft.fates[place][0] == "digested" for place in atom)
        if (partly or draft.is_dropped(atom)) and draft.fits(dict.fromkeys(atom, KEPT)):
            back += sum(draft.fates[place] != KEPT for place in atom)
            draft.keep(atom, "answers the query; came back for it")
    return back


def _mask_lines(
    messages: Sequence[Message], costs: Sequence[int], counter: MessageCounter
) -> dict[int, ContextMessage]:
    """Return each tool output as a single line, by its index, where that is shorter."""
    tools = {call.id: call.name for message in messages for call in message.calls}
    lines = {
        place: mask_output(message, tools.get(message.answers, ""), costs[place], counter)
        for place, message in enumerate(messages)
        if message.role == "tool"
    }
    return {place: line for place, line in lines.items() if line.tokens < costs[place]}


def _keep_critical(material: Material, budget: int) -> Draft:
    """Return a draft with everything CRITICAL; raise ImpossibleBudgetError where that exceeds the budget."""
    draft = Draft(material)
    critical = [a for a in material.atoms if material.level(a) == Protection.CRITICAL]
    for atom in critical:
        draft.change(material.protect(atom), material.reason(atom))
    if draft.used > budget:
        largest = max((p for a in critical for p in a), key=lambda p: material.costs[p])
        number, size = material.messages[largest].number, material.costs[largest]
        most = f", {size:,} of them {handle(number, number)}" if 2 * size > draft.used else ""
        raise ImpossibleBudgetError(
            f"What must be kept takes {draft.used:,} tokens{most}; the budget is {budget:,}.",
            way_out=f"Give at least {draft.used:,} tokens, or shorten or unpin what must be kept.",
        )
    return draft


def _fill_gaps(draft: Draft) -> None:
    """Keep whole every atom that takes no more tokens than the gap mark or citations in its place."""
    for atom in draft.material.atoms:
        if any(draft.fates[place] != KEPT for place in atom) and draft.cost(dict.fromkeys(atom, KEPT)) <= 0:
            draft.keep(atom, "shorter than what would stand for it")


def _build_spans(
    messages: Sequence[Message],
    fates: Sequence[Fate],
    because: Sequence[str],
    costs: Sequence[int],
    short: Sequence[int],
    worths: Sequence[float],
    sent: Sequence[ContextMessage],
) -> tuple[ContextSpan, ...]:
    """Join messages in a row with the same fate and reason to spans. The tokens of a line that cites several messages
    count for the first of them.
    """
    cited = {message.cited[0]: message.tokens for message in sent if message.cited}
    shown: Mapping[str, Sequence[int]] = {
        "kept": costs,
        "masked": short,
        "digested": [cited.get(message.number, 0) for message in messages],
        "dropped": [0] * len(messages),
    }
    spans = []
    whys = [(fate, why or "worth less than what stays") for (fate, _), why in zip(fates, because, strict=True)]
    for (fate, why), run in groupby(range(len(messages)), key=whys.__getitem__):
        places = list(run)
        first, last = messages[places[0]].number, messages[places[-1]].number
        worth = max(worths[place] for place in places)
        tokens, after = (sum(counts[place] for place in places) for counts in (costs, shown[fate]))
        spans.append(ContextSpan(handle(first, last), first, last, fate, why, worth, tokens, after))
    return tuple(spans)


def _compare_sent(earlier: Sequence[ContextMessage], sent: Sequence[ContextMessage]) -> tuple[float, int]:
    """Return the share (of bytes) of the last context that is an unchanged beginning of this context, and the tokens of
    the rest of it, which a provider must read again.
    """
    total = sum(map(_count_bytes, earlier))
    same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(earlier, sent, strict=False)))
    stable = sum(map(_count_bytes, earlier[:same])) / total if total else 1.0
    return stable, _sum_tokens(earlier[same:])


def _count_bytes(message: ContextMessage) -> int:
    calls = sum(len(c.name.encode()) + len(c.arguments.encode()) for c in message.calls)
    return len(message.text.encode()) + calls + 1


_STAGES: tuple[tuple[str, SpanFate, str], ...] = (
    ("mask", "masked", "outputs of tools as one line"),
    ("digest", "digested", "messages cited in part"),
    ("select", "dropped", "messages left out"),
)


def _build_ledger(fates: Sequence[Fate], costs: Sequence[int], sent: Sequence[ContextMessage]) -> tuple[LedgerRow, ...]:
    """Return the rows that account for the tokens: the history, then what masking, citing, dropping and
    marks change.
    """
    left = size = len(fates)
    after = sum(costs)
    rows = [LedgerRow("history", after, 0, 0, after, size)]
    shown = {fate: sum(message.tokens for message in sent if message.fate == fate) for _, fate, _ in _STAGES}
    for stage, fate, what in _STAGES:
        places = [place for place, own in enumerate(fates) if own[0] == fate]
        if not places and fate == "digested":
            continue
        left -= len(places) * (fate == "dropped")
        before, taken, added = after, sum(costs[place] for place in places), shown[fate] * (fate != "dropped")
        after += added - taken
        rows.append(LedgerRow(stage, before, taken, added, after, left, f"{what}: {len(places):,}" if places else ""))
    gaps = sum(message.fate == "dropped" for message in sent)
    why = f"marks of gaps: {gaps:,}" if gaps else ""
    added = shown["dropped"]
    rows.append(LedgerRow("render", after, 0, added, after + added, len(sent), why))
    return tuple(rows)
