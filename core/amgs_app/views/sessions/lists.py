"""Lists of sessions and of a session's parts, with the fields to filter and sort them; and the rows of a
session's first page, shared by the command's table, the pane and the HTML page.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from amgs.text.words import plural
from amgs_app.render.format import age, short_count, span
from amgs_app.render.rows import RowList, Rows

if TYPE_CHECKING:
    from datetime import datetime

    from amgs.wings.sessions.listing import ListedSession, SessionListing
    from amgs.wings.sessions.losses import Outlook
    from amgs.wings.sessions.regrets import KindRate
    from amgs.wings.sessions.review import SessionReview
    from amgs.wings.sessions.work import FileUse, WindowShare


NONE_HERE: Final = (
    "No session of a coding agent lies here. `amgs session FILE` opens one, `amgs session sample` one that comes with"
    " the program; it looks in the folders of Claude Code, Codex, opencode, Gemini CLI, Copilot CLI and others."
)
SESSIONS: Final = Rows["tuple[ListedSession, str]"](
    "when:age id! what*! project*~ agent?? took? turns:n? tokens:n? ▼:n~ errors:n~ again:n~ seconds:n. compactions:n.",
    lambda row: (
        row[0].changed,
        row[1],
        row[0].what or "nothing was said",
        row[0].project.rstrip("/").rpartition("/")[2],
        row[0].agent,
        "" if row[0].seconds is None else span(row[0].seconds),
        row[0].turns,
        row[0].tokens,
        row[0].compactions or None,
        row[0].errors or None,
        row[0].again or None,
        row[0].seconds,
        row[0].compactions,
    ),
    lambda row: [(row[0].id, row[0].agent), ("project", row[0].project), ("what", row[0].what), ("file", row[0].path)],
    empty=(NONE_HERE,),
)
LISTING: Final = SESSIONS.listing


def list_found(result: SessionListing) -> RowList[tuple[ListedSession, str]]:
    """Return the sessions on this machine, each with a prefix of its id that identifies it."""
    from amgs.wings.sessions.listing import short_ids

    rows = zip(result.sessions, short_ids(result.sessions), strict=True)
    title = f"{plural(len(result.sessions), 'session')} of agents on this machine"
    return SESSIONS.of(title if result.sessions else "No session lies here", rows, now=result.at)


CELLS: Final = "when id project* agent? took:n turns:n tokens:n ▼:n errors:n again:n what/"
"""Columns of the list of sessions for `sheet`."""


def cells_of(sessions: Sequence[ListedSession], now: datetime) -> list[tuple[str, ...]]:
    """Return the cells of sessions as shown."""
    from amgs.wings.sessions.listing import short_ids

    return [
        (
            age(session.changed, now),
            id,
            session.project.rstrip("/").rpartition("/")[2],
            session.agent,
            "" if session.seconds is None else span(session.seconds),
            _format_number(session.turns),
            "" if session.tokens is None else short_count(session.tokens),
            _format_number(session.compactions or None),
            _format_number(session.errors or None),
            _format_number(session.again or None),
            session.what or "nothing was said",
        )
        for session, id in zip(sessions, short_ids(sessions), strict=True)
    ]


def _format_number(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


_SHARES, _FILES, _FAILURES, _WAITS, _AHEAD, _RULES = 8, 10, 6, 6, 6, 6
"""Rows of a part at most."""
COLUMNS: Final = "part~ kind turn:n times:n tokens:n s:n what*"
"""Columns for `sheet`; a part is shown as a heading above its rows."""
CLASSES: Final = {
    "path": "paths",
    "number": "numbers",
    "id": "ids",
    "command": "commands",
    "decision": "decisions",
    "constraint": "constraints",
    "error": "errors",
}
"""Plurals of the classes of findings."""


@dataclass(frozen=True, slots=True)
class PageRow:
    """A row of the page. part, kind: in the program's words; what: in the session's. turn: where to read it in full.
    alarm: whether it is a problem.
    """

    part: str
    kind: str
    what: str
    turn: int | None = None
    times: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    alarm: bool = False

    @property
    def cells(self) -> tuple[object, ...]:
        """Return the cells for `COLUMNS`."""
        seconds = None if self.seconds is None else round(self.seconds)
        return self.part, self.kind, self.turn, self.times, self.tokens, seconds, self.what


def rows_of(review: SessionReview) -> tuple[PageRow, ...]:
    """Return all rows by parts, problems first."""
    return (
        *_list_broken_rules(review),
        *_compactions(review),
        *_again(review),
        *_failures(review),
        *_window(review),
        *_files(review),
        *_waits(review),
        *_requests(review),
        *_ahead(review),
        *_rules(review),
    )


def lay_out_page_rows(rows: Sequence[PageRow]) -> Iterator[tuple[object, ...]]:
    """Yield the cells as shown, each part's name in a line of its own."""
    part = ""
    for row in rows:
        if row.part != part:
            part = row.part
            yield "", part, "", "", "", "", ""
        _, kind, turn, times, _, seconds, what = row.cells
        size = "" if row.tokens is None else short_count(row.tokens)
        yield "", f"· {kind}", turn or "", times or "", size, "" if seconds is None else seconds, what


def _list_broken_rules(review: SessionReview) -> Iterator[PageRow]:
    for rule in sorted(review.broken, key=lambda rule: (rule.dropped is None, rule.done)):
        dropped = "" if rule.dropped is None else f", dropped at {rule.dropped}"
        what = f"{rule.command} · rule of turn {rule.said}{dropped}: {rule.rule}"
        yield PageRow("broken rules", "broken", what, rule.done, alarm=True)


def _compactions(review: SessionReview) -> Iterator[PageRow]:
    for loss in review.losses:
        lost = ", ".join(plural(loss_class.gone, loss_class.kind) for loss_class in loss.classes if loss_class.gone)
        before = f"{loss.before:,}" if loss.before else f"about {loss.tokens:,}"
        gone = "what its summary says, the provider alone can read" if loss.sealed else f"gone: {lost or 'nothing'}"
        what = f"at {before} tokens, {loss.opening:,} in their place; {gone}"
        yield PageRow("compactions", loss.trigger or "not said", what, loss.boundary, tokens=loss.tokens)


def describe_rate(row: KindRate) -> str:
    """Describe how much was needed again, compared with places without a compaction."""
    anyway = "" if row.elsewhere is None else f", {row.elsewhere:,.1f} elsewhere"
    return f"{row.rate:,.1f} tokens for 1,000 dropped{anyway}: {row.standing}"


def describe_window(outlook: Outlook) -> str:
    """Describe the size of the window and how full it is."""
    tokens = f"{outlook.tokens:,} tokens stand in the window"
    if outlook.fill is None:
        return tokens
    return f"{tokens}, {f'{outlook.fill:.0%}' if outlook.fill >= 0.01 else 'less than 1%'} of it"


def _again(review: SessionReview) -> Iterator[PageRow]:
    counted = {row.kind: row for row in review.kinds if row.counted and row.regrets}
    for regret in sorted(review.regrets, key=lambda regret: -regret.tokens):
        if regret.kind in counted:
            what = f"{_short(review, regret.what)} (of turn {regret.before}, dropped at {regret.boundary})"
            yield PageRow(
                "needed again", regret.kind, what, regret.after, None, regret.tokens, regret.seconds, alarm=True
            )
    for row in counted.values():
        yield PageRow("needed again", "in all", describe_rate(row), None, row.regrets, row.tokens)


def _window(review: SessionReview) -> Iterator[PageRow]:
    for share in review.shares[:_SHARES]:
        now = f"{short_count(share.now)} of it now" if review.losses else ""
        what = ", ".join(word for word in (_whose(share), now) if word)
        yield PageRow("filled the window", share.kind, what, None, share.turns, share.tokens)
    for large in review.largest:
        what = _short(review, large.what)
        yield PageRow("largest results", "result", what, large.turn, None, large.tokens)


def _whose(share: WindowShare) -> str:
    if share.kind == "said":
        return {"user": "by the user", "assistant": "by the model"}.get(share.role, share.role)
    return {"result": f"of {share.tool or 'tools'}", "call": f"of {share.tool}"}.get(share.kind, "")


def _files(review: SessionReview) -> Iterator[PageRow]:
    for file in review.files[:_FILES]:
        kind = "read again" if file.again else "changed" if file.changes else "read"
        what = f"{_short(review, file.path)}: {_uses(file)}"
        yield PageRow("files", kind, what, file.last, file.reads + file.changes, file.tokens or None)


def _uses(file: FileUse) -> str:
    parts = (
        f"read {plural(file.reads, 'time')}" if file.reads else "",
        f"{file.again} of them known already" if file.again else "",
        f"changed {plural(file.changes, 'time')}" if file.changes else "",
    )
    return ", ".join(word for word in parts if word)


def _failures(review: SessionReview) -> Iterator[PageRow]:
    for failure in review.failures[:_FAILURES]:
        kind = "never mended" if failure.mended is None else f"mended at {failure.mended}"
        what = f"{_short(review, failure.what)}: {failure.says}"
        yield PageRow("errors", kind, what, failure.last, failure.times, alarm=failure.mended is None)


def _waits(review: SessionReview) -> Iterator[PageRow]:
    for wait in review.waits[:_WAITS]:
        yield PageRow("longest waits", wait.of, _short(review, wait.what), wait.turn, None, None, wait.seconds)


def _requests(review: SessionReview) -> Iterator[PageRow]:
    used, cache = review.used, review.cache
    if not used.requests:
        return
    read = used.fresh + used.written + used.cached
    description = f"{used.cached:,} from the cache, {used.written:,} put into it, {used.output:,} written"
    yield PageRow("requests", "read", description, None, used.requests, read)
    if cache.missed:
        description = (
            f"its prefix was read again {plural(len(cache.missed), 'time')}, for {cache.lost:,.0f} tokens of input"
        )
        yield PageRow("requests", "cache", description, cache.missed[0].turn, len(cache.missed))
    if used.unpriced < used.requests:
        rest = f", {plural(used.unpriced, 'request')} without a known price" if used.unpriced else ""
        yield PageRow("requests", "cost", f"$ {used.cost:,.2f} at list prices of {review.prices}{rest}")
    else:
        yield PageRow("requests", "cost", f"no price is known of {review.facts.model or 'its model'}")


def _ahead(review: SessionReview) -> Iterator[PageRow]:
    ahead = review.outlook
    if ahead is None:
        return
    yield PageRow("a compaction now", "window", describe_window(ahead), ahead.turn, None, ahead.tokens)
    for file in ahead.files[:_AHEAD]:
        yield PageRow("a compaction now", "file", _short(review, file.path), file.spoken, file.uses, file.tokens)
    for asked in ahead.asked[:_AHEAD]:
        yield PageRow("a compaction now", "asked for", asked.text, asked.turn)


def _rules(review: SessionReview) -> Iterator[PageRow]:
    for rule in review.rules[:_RULES]:
        text = " ".join(rule.text[:200].split())
        yield PageRow("rules loaded", "file", f"{_short(review, rule.path)}: {text}", rule.turn)


def _short(review: SessionReview, what: str) -> str:
    """Return a text without the project folder."""
    folder = review.facts.project.rstrip("/")
    return what.replace(f"{folder}/", "") if folder else what
