"""How agents' sessions are shown: the list, a session's content, losses and costs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from amgs.text.words import plural
from amgs_app.render.catalogue import draw_table, entry, list_of
from amgs_app.render.rows import RowList, Rows
from amgs_app.render.sheet import ResultTable, cut, facts, sheet
from amgs_app.views.sessions.lists import (
    CELLS,
    CLASSES,
    COLUMNS,
    NONE_HERE,
    cells_of,
    describe_rate,
    describe_window,
    lay_out_page_rows,
    rows_of,
)

if TYPE_CHECKING:
    from datetime import datetime

    from rich.text import Text

    from amgs.wings.sessions.findings import SessionFinding
    from amgs.wings.sessions.listing import FoundTurns, SessionListing
    from amgs.wings.sessions.losses import LostClass
    from amgs.wings.sessions.regrets import KindRate, Regret
    from amgs.wings.sessions.review import SessionFacts, SessionReview
    from amgs.wings.sessions.tasks import SessionTree, SessionUsage, UseSum
    from amgs.wings.sessions.work import CacheMiss, TurnRow
    from amgs_app.render.canvas import Canvas
    from amgs_app.session import Operator
    from amgs_app.views.sessions.results import (
        SessionCache,
        SessionHandOver,
        SessionLosses,
        SessionOutlook,
        SessionRegrets,
        SessionRules,
        SessionText,
        SessionTurns,
        SessionWhy,
        SessionWindowShown,
    )

_WHY = {
    "reopened": "read again a file that it had changed or written",
    "reread": "read again a file that it had read",
    "rerun": "ran the same command again",
    "searched": "searched for what it had found",
    "repeated": "was told again by the user",
}
CAUSES: Final = {
    "compaction": "a compaction began a new window",
    "taken back": "the user went back",
    "pause": "a pause longer than the cache lives",
    "put in": "the program put something in",
    "unknown": "nothing that the file shows",
}
"""Why a prefix was read again."""
_LOST_SHOWN = 12
_ONE_LINE = 76
"""Cells of a session's summary, for a terminal of 80 columns."""


def _summarise_listing(result: SessionListing) -> str:
    return plural(len(result.sessions), "session") if result.sessions else "No session lies here"


@entry(figure=draw_table, sentence=_summarise_listing)
def session_listing(result: SessionListing) -> ResultTable:
    rows = tuple(
        (
            session.changed,
            session.id,
            session.project,
            session.agent,
            session.seconds,
            session.turns,
            session.tokens,
            session.compactions,
            session.errors,
            session.again,
            session.what,
        )
        for session in result.sessions
    )
    count, every = len(rows), len(rows) + result.more
    notes = [
        "" if rows else NONE_HERE,
        f"{count:,} of {plural(every, 'session')}, the newest last"
        + (f"; `--limit {every}` shows all" if result.more else "")
        if rows
        else "",
        f"{plural(result.left, 'file was', 'files were')} not counted for want of time" if result.left else "",
        f"not read: {', '.join(f'{program} ({where})' for program, where in result.unread)}" if result.unread else "",
        "▼ compactions; again: what was needed again after them, where there was time to look" if rows else "",
        "`amgs session ID` opens a session, `amgs session last` the newest: the beginning of its id is enough"
        if rows
        else "",
    ]
    # Data are newest first; people see the newest last, next to the prompt.
    shown = [(*cells, cut(what, _ONE_LINE)) for *cells, what in cells_of(result.sessions, result.at)]
    return replace(sheet("Sessions", CELLS, rows, notes), digest=tuple(reversed(shown)))


_FROM = {"subagent": "subagent", "fork": "fork", "continues": "goes on", "copy": "copy"}


@entry(figure=draw_table)
def session_tree(result: SessionTree) -> ResultTable:
    rows = [
        (
            f"└{'─' * (row.depth - 1)} {row.session.id}" if row.depth else row.session.id,
            _FROM.get(row.session.relation, "") if row.depth else "",
            row.session.agent,
            row.session.title,
            row.session.started,
            row.own.requests,
            row.told or None,
            *_tokens(row.own),
        )
        for row in result.rows
    ]
    note = f"{plural(len(rows), 'session')}, {_sum_told(result.total, result.prices)}"
    columns = "id! from? agent? what* began:at? requests:n! elsewhere:n? fresh:n? written:n? cached:n? output:n! $!"
    return sheet("Sessions and what came from them", columns, rows, [note if rows else NONE_HERE])


@entry(figure=draw_table)
def session_usage(result: SessionUsage) -> ResultTable:
    rows = [(row.name, row.sessions, row.requests, *_tokens(row)) for row in result.rows]
    notes = [
        f"all: {plural(result.total.sessions, 'session')}, {_sum_told(result.total, result.prices)}"
        if rows
        else NONE_HERE,
        f"{plural(result.failed, 'file')} could not be read" if result.failed else "",
    ]
    columns = f"{result.by}* sessions:n requests:n fresh:n written:n cached:n output:n $"
    return sheet("Usage", columns, rows, notes)


def _tokens(usage: UseSum) -> tuple[Any, ...]:
    """Return the tokens of a sum and its cost, marked if part of it has no known price."""
    cost = f"{usage.cost:,.2f}" if usage.unpriced < usage.requests else "–"
    more = "+" if 0 < usage.unpriced < usage.requests else ""
    return usage.fresh, usage.written, usage.cached, usage.output, f"{cost}{more}" if usage.requests else ""


def _sum_told(total: UseSum, prices: str) -> str:
    read = total.fresh + total.written + total.cached
    summary = f"{plural(total.requests, 'request')}, {read:,} tokens read ({total.cached:,} from the cache)"
    summary += f", {total.output:,} written"
    if total.unpriced < total.requests:
        summary += f", $ {total.cost:,.2f} at list prices of {prices}"
    return summary + (f"; {plural(total.unpriced, 'request')} without a known price" if total.unpriced else "")


def _draw_result(operator: Operator, result: SessionReview, canvas: Canvas) -> Text:
    del operator
    from amgs_app.views.sessions.figure import overview

    return overview(result, canvas)


def _summarise_review(result: SessionReview) -> str:
    tokens, seconds = result.price
    compactions = f"{plural(len(result.losses), 'compaction')}"
    return f"{compactions}, {tokens:,} tokens and {seconds:,.0f} s needed again" if tokens else compactions


@entry(figure=_draw_result, sentence=_summarise_review)
def session_review(result: SessionReview) -> ResultTable:
    rows = rows_of(result)
    notes = [
        *_describe_facts(result.facts),
        _describe_cache(result),
        _describe_price(result),
        "" if result.losses else "It was never compacted.",
        "--view turns, window, lost, regret, cache, rules, outlook look closer",
    ]
    table = sheet(_title(result.facts), COLUMNS, (row.cells for row in rows), notes)
    return replace(table, digest=tuple(lay_out_page_rows(rows)), alarm=" · ".join(result.wrong))


def _title(facts: SessionFacts) -> str:
    name = facts.title or facts.project or facts.path
    return f"{facts.agent}: {name}"


def _describe_facts(facts: SessionFacts) -> Iterator[str]:
    kinds = ", ".join(f"{number:,} {kind}" for kind, number in facts.turns.items() if kind != "boundary")
    span = f", {facts.started:%Y-%m-%d %H:%M} to {facts.ended:%H:%M}" if facts.started and facts.ended else ""
    yield f"id {facts.id}{span}" + (f", {facts.model}" if facts.model else "")
    yield f"turns: {facts.all_turns:,}{_aside(facts)}: {kinds or 'none'}"
    other = sum(facts.evidence.values())
    yield (
        f"records: {facts.records:,}, of which {facts.taken:,} hold turns, {other:,} do not"
        + (
            f", {len(facts.unread):,} could not be read (line {facts.unread[0][0]}: {facts.unread[0][1]})"
            if facts.unread
            else ""
        )
    )
    yield from facts.notes
    if facts.parent:
        relations = {"subagent": "a subagent of", "fork": "a fork of", "continues": "goes on from"}
        yield f"{relations.get(facts.relation, 'comes from')} {facts.parent}"
    if facts.partial:
        yield "only the end of the file was read, and turns are numbered from there"
    missing = [name for name, there in (("system prompt", facts.has_system), ("tools", facts.has_tools)) if not there]
    if missing:
        yield f"not in the file: {' and '.join(missing)}"


def _aside(facts: SessionFacts) -> str:
    """Describe the turns that are not of the main conversation or were taken back."""
    parts = [f"{facts.side:,} of {plural(facts.subagents, 'subagent')}"] if facts.side else []
    parts += [f"{facts.abandoned:,} taken back"] if facts.abandoned else []
    parts += [f"{facts.copied:,} copied from another session"] if facts.copied else []
    return f", {', '.join(parts)}; of the main conversation" if parts else ""


def _describe_cache(result: SessionReview) -> str:
    cache = result.cache
    if not cache.requests:
        return "the file counts no tokens"
    missed = f"; {plural(len(cache.missed), 'time')} the prefix was read again, for {cache.lost:,.0f} tokens of input"
    return f"cache: {cache.share:.0%} of what was read came from it" + (missed if cache.missed else "")


def _describe_price(result: SessionReview) -> str:
    tokens, seconds = result.price
    if not result.losses:
        return ""
    if not tokens:
        return "nothing that was dropped was needed again more than elsewhere"
    return f"needed again after a compaction: {tokens:,} tokens, {seconds:,.0f} s; `--view regret` shows each"


TURNS: Final = Rows["TurnRow"](
    "turn:n! kind at:at- tokens:n agent~ what*!",
    lambda turn: (turn.number, _kind_of(turn), turn.at, turn.tokens, turn.agent or None, _mark_of(turn) + turn.what),
    key=lambda turn: str(turn.number),
    tones={"boundary": "bad", "summary": "warn", "said (user)": "accent"},
    empty=("No turn is here.",),
)
WINDOW: Final = Rows["TurnRow"](
    "turn:n! kind tokens:n what*!",
    lambda turn: (turn.number, turn.kind, turn.tokens, turn.what),
    key=lambda turn: str(turn.number),
    tones={"boundary": "bad", "summary": "warn"},
    empty=("The window is empty.",),
)
LOST: Final = Rows["tuple[int, SessionFinding]"](
    "compacted:n class! turn:n what*!",
    lambda row: (row[0], row[1].kind, row[1].turn, row[1].text),
    key=lambda row: str(row[1].turn),
    empty=("No compaction dropped anything that the window does not hold.",),
)
REGRETS: Final = Rows["Regret"](
    "kind! compacted:n? dropped:n? again:n tokens:n s:n? what*!",
    lambda regret: (
        regret.kind,
        regret.boundary,
        regret.before,
        regret.after,
        regret.tokens,
        _round_seconds(regret.seconds),
        regret.what,
    ),
    key=lambda regret: str(regret.after),
    empty=("Nothing that a compaction dropped was needed again.",),
)
MISSES: Final = Rows["CacheMiss"](
    "turn:n! tokens:n price:n pause:n because*! span:n",
    lambda miss: (miss.turn, miss.lost, round(miss.cost), _round_seconds(miss.seconds), CAUSES[miss.cause], miss.span),
    key=lambda miss: str(miss.span or miss.turn),
    empty=("No prefix was read again, as far as the file tells.",),
)
RULES: Final = Rows["tuple[Any, ...]"](
    "what! turn:n characters:n of* says*!",
    tuple,
    key=lambda row: str(row[1]),
    tones={"broken": "bad"},
    empty=("No rule is known.",),
)
OUTLOOK: Final = Rows["tuple[Any, ...]"](
    "place:n what*! uses:n spoken:n tokens:n", tuple, key=lambda row: str(row[3]), empty=("Nothing would be dropped.",)
)


def list_views(review: SessionReview) -> dict[str, RowList[Any] | None]:
    """Return the lists for the views that a review contains."""
    from amgs_app.views.sessions import results

    facts, outlook = review.facts, review.outlook
    return {
        "lost": list_of(results.SessionLosses(facts, review.losses)),
        "regret": list_of(results.SessionRegrets(facts, review.regrets, review.kinds)),
        "cache": list_of(results.SessionCache(facts, review.cache)),
        "rules": list_of(results.SessionRules(facts, review.rules, review.broken)),
        "outlook": list_of(results.SessionOutlook(facts, outlook))
        if outlook is not None
        else OUTLOOK.of("No turn", ()),
    }


@entry()
def session_turns(result: SessionTurns) -> RowList[TurnRow]:
    shown = f"{len(result.turns):,} of {plural(result.total, 'turn')}"
    if result.facts.side and not result.find:
        shown += f", {result.facts.side:,} of them of {plural(result.facts.subagents, 'subagent')}"
    title = f"{shown} with {result.find!r}" if result.find else shown
    return TURNS.of(title, result.turns)


def _kind_of(turn: TurnRow) -> str:
    return f"{turn.kind} ({turn.role})" if turn.kind in ("said", "injected") else turn.kind


def _mark_of(turn: TurnRow) -> str:
    return "✗ " if turn.failed else "(taken back) " if turn.abandoned else "(copied) " if turn.copied else ""


@entry()
def list_window(result: SessionWindowShown) -> RowList[TurnRow]:
    title = f"The window at turn {result.turn}: {result.tokens:,} tokens" + (" (estimated)" if result.estimated else "")
    rest = result.tokens - result.described
    notes = [
        _part("system prompt", result.system),
        _part("definitions of tools", result.tools),
        f"{rest:,} tokens are of what the file does not hold" if not result.estimated and rest > 0 else "",
        f"{plural(result.masked, 'result was', 'results were')} cleared by the program" if result.masked else "",
    ]
    return WINDOW.of(title, result.turns, notes)


def _part(name: str, text: str | None) -> str:
    return f"{name}: not in this kind of file" if text is None else f"{name}: {len(text):,} characters"


def _text_page(result: SessionText, canvas: Canvas, now: datetime) -> Text:
    del now
    from rich.text import Text

    from amgs_app.render.canvas import ink
    from amgs_app.terminal.output import printable

    turn, palette = result.turn, canvas.palette
    when = f", {turn.at:%Y-%m-%d %H:%M:%S}" if turn.at else ""
    head = f"{turn.kind}, {turn.role}{when}" + (", failed" if turn.failed else "")
    page = Text.assemble((f"{head}\n\n", ink(palette.muted)))
    if not result.diff:
        return page.append(printable(turn.words), ink(palette.text))
    page.append(printable(f"{turn.text}\n" if turn.text else ""), ink(palette.text))
    colours = {"+": palette.good, "-": palette.bad, "@": palette.accent, "*": palette.accent}
    for line in result.diff:
        page.append(f"{printable(line)}\n", ink(colours.get(line[:1], palette.text)))
    return page


@entry(figure=draw_table, page=_text_page)
def session_text(result: SessionText) -> ResultTable:
    turn = result.turn
    lines = [*turn.text.splitlines(), *result.diff] if result.diff else turn.words.split("\n")
    return sheet(f"Turn {turn.number}: {turn.kind}, {turn.role}", "text:line*", [(line,) for line in lines])


@entry(figure=draw_table)
def session_hand_over(result: SessionHandOver) -> ResultTable:
    title = f"Hand-over, {result.tokens:,} tokens (estimated)"
    return sheet(title, "text:line*", [(line,) for line in result.message.splitlines()])


@entry(figure=draw_table)
def session_why(result: SessionWhy) -> ResultTable:
    reason = result.reason
    fates = {
        "verbatim": "It stands in the new window, word for word.",
        "reworded": "It stands in the new window in other words.",
        "gone": "It does not stand in the new window.",
    }
    rows = [
        ("what", reason.what),
        ("class", reason.kind),
        ("said at turn", ", ".join(map(str, reason.said))),
        ("compacted at turn", reason.boundary),
        ("there now", fates.get(reason.fate, reason.fate)),
        ("nearest there", f"{reason.nearest} ({reason.shared:.0%} of its words)" if reason.nearest else "nothing"),
        *(
            ("needed again", f"{regret.kind} at turn {regret.after}, {regret.tokens:,} tokens")
            for regret in result.again
        ),
    ]
    return facts("Why it is lost" if reason.fate == "gone" else "What became of it", rows)


@entry()
def session_losses(result: SessionLosses) -> RowList[tuple[int, SessionFinding]]:
    rows: list[tuple[int, SessionFinding]] = []
    shown: list[tuple[int, SessionFinding]] = []
    notes: list[str] = []
    for loss in result.losses:
        for loss_class in loss.classes:
            if result.kind in ("", loss_class.kind):
                lost = [(loss.boundary, finding) for finding in loss_class.lost]
                rows += lost
                shown += lost if result.kind else lost[:_LOST_SHOWN]
                notes.append(_describe_class(loss_class, loss.boundary))
        if loss.sealed:
            notes.append(f"what the summary at turn {loss.boundary} says, the provider alone can read")
    if len(shown) < len(rows):
        notes.append(f"at most {_LOST_SHOWN} of each class; `--class NAME` shows all")
    return LOST.of("Lost to compactions", rows, notes, digest=tuple(shown))


def _describe_class(loss_class: LostClass, boundary: int) -> str:
    """`paths at turn 46: 6, of which 0 word for word, 3 in other words, 3 gone`."""
    survivors = f"{loss_class.verbatim} word for word, {loss_class.reworded} in other words"
    dropped = f"{CLASSES[loss_class.kind]} dropped at turn {boundary}: {loss_class.held}"
    return f"{dropped}, of which {survivors}, {loss_class.gone} gone"


@entry()
def session_regrets(result: SessionRegrets) -> RowList[Regret]:
    notes = [
        *(_describe_kind(row) for row in result.kinds),
        "elsewhere: at places of this session where nothing was compacted" if result.kinds else "",
    ]
    return REGRETS.of("Needed again after a compaction", _order_regrets(result), notes)


def _order_regrets(result: SessionRegrets) -> list[Regret]:
    """Sort by cause, compactions first, then by cost."""
    counted = {row.kind for row in result.kinds if row.counted}
    return sorted(result.regrets, key=lambda regret: (regret.kind not in counted, -regret.tokens))


def _describe_kind(row: KindRate) -> str:
    apart = "" if row.counted else "; not counted as a price, see docs/results/sessions.md"
    return f"{row.kind}: {_WHY[row.kind]}: {plural(row.regrets, 'time')}, {describe_rate(row)}{apart}"


def _round_seconds(seconds: float | None) -> int | None:
    return None if seconds is None else round(seconds)


@entry()
def session_cache(result: SessionCache) -> RowList[CacheMiss]:
    cache = result.cache
    if not cache.requests:
        notes = ["The file counts no tokens."]
    else:
        notes = [
            f"{plural(len(cache.requests), 'request')}: {cache.cached:,} tokens read from the cache, {cache.written:,}"
            f" put into it, {cache.fresh:,} at full price, {cache.output:,} written",
            f"{cache.share:.1%} of what was read came from the cache",
            "price: tokens of input at full price; a cached token costs .1, a token written to the cache 1.25",
        ]
    return MISSES.of("Prefixes that were read again", cache.missed, notes)


@entry()
def session_rules(result: SessionRules) -> RowList[tuple[Any, ...]]:
    rows: list[tuple[Any, ...]] = [
        ("loaded", rule_file.turn, len(rule_file.text), rule_file.path, " ".join(rule_file.text[:200].split()))
        for rule_file in result.rules
    ]
    rows += [
        (
            "broken",
            breach.done,
            None,
            breach.command,
            f"{breach.rule} (turn {breach.said}" + _describe_dropped(breach.dropped),
        )
        for breach in result.broken
    ]
    notes = (
        "" if result.rules else "This file does not say which instructions were loaded.",
        "" if result.broken else "No command did what the user had forbidden, as far as rules can tell.",
    )
    return RULES.of("Rules", rows, notes)


def _describe_dropped(boundary: int | None) -> str:
    return ")" if boundary is None else f", dropped at turn {boundary})"


@entry()
def session_outlook(result: SessionOutlook) -> RowList[tuple[Any, ...]]:
    outlook = result.outlook
    rows: list[tuple[Any, ...]] = [
        (place, file.path, file.uses, file.spoken, file.tokens) for place, file in enumerate(outlook.files, 1)
    ]
    rows += [(None, finding.text, None, finding.turn, None) for finding in outlook.asked]
    notes = (
        f"turn {outlook.turn}: {describe_window(outlook)}",
        "A compaction is near." if outlook.near else "",
        "files by when they were last spoken of: of the first five 30 % are touched again within 80 turns, of all 16 %",
    )
    return OUTLOOK.of("A compaction now would drop", rows, notes)


@entry(figure=draw_table)
def tabulate_found_turns(result: FoundTurns) -> ResultTable:
    rows = [(hit.session.id, hit.session.project, hit.turn.number, hit.turn.at, hit.turn.what) for hit in result.found]
    return sheet(f"{plural(len(rows), 'turn')} with {result.words!r}", "id:id project turn:n at:at what*", rows)
