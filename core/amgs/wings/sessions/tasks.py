"""A task across its files: subagents, forks, resumed, continued and copied sessions as a single tree, with sums that
count each request once, even if several files contain it, and prices by a dated table, `prices.json`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from amgs.errors import AmgsError, InputError
from amgs.sessions.building import SessionFormat
from amgs.sessions.turn import Session, Turn
from amgs.types import Progress
from amgs.types.gateway import Usage
from amgs.wings.sessions.files import session_files

_DATED: Final = re.compile(r"(?:-\d{8}|-\d{4}-\d\d-\d\d|-latest|\[[^\]]*\]|[@:].*)+$")
"""Suffixes of model names: versions and ways of running."""


@cache
def price_table() -> dict[str, Any]:
    """Return the table. checked: day on which it was last compared with the providers' pages."""
    table: dict[str, Any] = json.loads(Path(__file__).with_name("prices.json").read_text("utf-8"))
    return table


def cost_of(model: str, usage: Usage, day: date | None = None) -> float | None:
    """Return the price of a request in dollars on a day, by default today; None if unknown."""
    name = model.lower().rpartition("/")[2].removeprefix("us.").removeprefix("anthropic.")
    plain = _DATED.sub("", name)
    for row in price_table()["prices"]:
        until = row.get("until")
        if plain not in row["models"] or (until and (day is None or day > date.fromisoformat(until))):
            continue
        tokens = (usage.fresh, usage.written, usage.cached, usage.output)
        rates = [float(row[key]) for key in ("fresh", "written", "cached", "output")]
        return sum(count * rate for count, rate in zip(tokens, rates, strict=True)) / 1_000_000
    return None


SumBy = Literal["task", "project", "day", "model"]
_GLOBAL: Final = 16
"""Length from which on a request's id is assumed to be globally unique."""
_NUMBERED: Final = ("request ", "turn ", "line ", "message ", "step ")
"""Prefixes of ids that readers assign if the file has none."""


@dataclass(frozen=True, slots=True)
class CountedRequest:
    """A request, counted once. cost: in dollars, None if neither the file nor the price table has it."""

    key: tuple[object, ...]
    model: str
    at: datetime | None
    usage: Usage
    cost: float | None


@dataclass(frozen=True, slots=True)
class SessionUse:
    """A session with its requests and origin. format: key of its reader."""

    id: str
    agent: str
    format: str
    path: str
    project: str
    title: str
    started: datetime | None
    parent: str
    relation: str
    continued: str
    requests: tuple[CountedRequest, ...]


@dataclass(frozen=True, slots=True)
class UseSum:
    """A sum of requests. unpriced: requests of unknown cost, not in `cost`."""

    name: str
    sessions: int = 0
    requests: int = 0
    fresh: int = 0
    written: int = 0
    cached: int = 0
    output: int = 0
    cost: float = 0.0
    unpriced: int = 0

    def plus(self, request: CountedRequest) -> UseSum:
        """Return the sum plus one request."""
        return replace(
            self,
            requests=self.requests + 1,
            fresh=self.fresh + request.usage.fresh,
            written=self.written + request.usage.written,
            cached=self.cached + request.usage.cached,
            output=self.output + request.usage.output,
            cost=self.cost + (request.cost or 0.0),
            unpriced=self.unpriced + (request.cost is None),
        )


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A session in its tree, with the requests that count for it. depth: 0 for the root. told: requests of its file
    that count for another session.
    """

    depth: int
    session: SessionUse
    own: UseSum
    told: int


@dataclass(frozen=True, slots=True)
class SessionTree:
    """Trees of sessions, latest first, each from its root down; and the sum over all of them."""

    rows: tuple[TreeRow, ...]
    total: UseSum
    prices: str = ""


@dataclass(frozen=True, slots=True)
class SessionUsage:
    """`session usage`: tokens and cost of requests by task, project, day or model. failed: files that could not be
    read.
    """

    by: SumBy
    rows: tuple[UseSum, ...]
    total: UseSum
    prices: str = ""
    failed: int = 0


def use_of(session: Session) -> SessionUse:
    """Return a session's requests, including abandoned ones and those of subagents, but not those copied from another
    session.
    """
    groups: dict[tuple[str, str], list[Turn]] = {}
    for turn in session.turns:
        if turn.usage is not None and turn.role == "assistant" and not turn.copied:
            name = (turn.agent, turn.request or f"turn {turn.number}")
            groups.setdefault(name, []).append(turn)
    return SessionUse(
        session.id,
        session.agent,
        session.format,
        session.path,
        session.project,
        session.title or first_words(session),
        session.started,
        session.parent,
        session.relation,
        session.continued,
        tuple(_count_request(session, request, turns) for (_, request), turns in groups.items()),
    )


def sum_of(name: str, requests: Sequence[CountedRequest]) -> UseSum:
    """Return the sum of a session's requests."""
    total = UseSum(name, 1)
    for request in requests:
        total = total.plus(request)
    return total


def _count_request(session: Session, request: str, turns: Sequence[Turn]) -> CountedRequest:
    usage = max((turn.usage for turn in turns if turn.usage), key=lambda use: (use.window, use.output))
    model = next((turn.model for turn in turns if turn.model), "" if turns[0].agent else session.model)
    at = turns[0].at
    stated_cost = next((turn.cost for turn in turns if turn.cost), None)
    key: tuple[object, ...] = (request,)
    if request.startswith(_NUMBERED):
        key = (session.agent, at or (session.id, request), usage)
    elif len(request) < _GLOBAL:
        key = (request, usage.window, turns[0].words[:200])
    cost = stated_cost if stated_cost is not None else cost_of(model, usage, at.date() if at else None)
    return CountedRequest(key, model, at, usage, cost)


def first_words(session: Session) -> str:
    """Return the user's first words, shortened to a line."""
    own = (turn for turn in session.main if not turn.copied)
    opening = next((turn for turn in own if turn.kind == "said" and turn.role == "user"), None)
    line = " ".join(opening.text[:200].split()) if opening else ""
    return line if len(line) <= 80 else line[:79].rstrip() + "…"


def read_uses(home: Path, progress: Progress | None = None) -> tuple[list[SessionUse], int]:
    """Return the sessions below a home folder, and the number of unreadable files. Raises Cancelled."""
    files = [*session_files(home)]
    uses: list[SessionUse] = []
    failed = 0
    for done, (form, path) in enumerate(files):
        if progress is not None:
            progress(done, len(files), path.name)
        try:
            uses += (use_of(session) for session in _sessions(form, path))
        except InputError:
            failed += 1
    return uses, failed


def _sessions(form: SessionFormat, path: Path) -> Iterator[Session]:
    if form.inside is None or form.read_one is None:
        yield form.read(path)
        return
    for id in form.inside(path):
        yield form.read_one(path, id)


def trees_of(uses: Sequence[SessionUse]) -> tuple[TreeRow, ...]:
    """Return the trees that sessions form; in each, a request counts for the first session that has it."""
    order = sorted(uses, key=_sort_key)
    owner: dict[tuple[object, ...], int] = {}
    for number, use in enumerate(order):
        for request in use.requests:
            owner.setdefault(request.key, number)
    parents = [_parent(order, number, owner) for number in range(len(order))]
    children: dict[int, list[int]] = {}
    for number, parent in enumerate(parents):
        children.setdefault(parent, []).append(number)
    rows: list[TreeRow] = []
    for root in reversed(children.get(-1, [])):
        waiting = [(root, 0)]
        while waiting:
            number, depth = waiting.pop()
            use = order[number]
            above = order[parents[number]] if parents[number] >= 0 else None
            own = [request for request in use.requests if owner[request.key] == number]
            if above is not None and not use.relation:
                shared = any(owner[request.key] != number for request in use.requests)
                use = replace(use, relation=("fork" if own else "copy") if shared else "continues")
            total = sum_of(use.id, own)
            repeats = len(use.requests) - len(own)
            rows.append(TreeRow(depth, replace(use, requests=tuple(own)), total, repeats))
            waiting += [(child, depth + 1) for child in reversed(children.get(number, []))]
    return tuple(rows)


def _sort_key(use: SessionUse) -> tuple[bool, float, bool, str]:
    """Order by start; of two sessions with the same start, the session that names a parent is later."""
    return (use.started is None, use.started.timestamp() if use.started else 0.0, bool(use.parent), use.path)


def _parent(order: Sequence[SessionUse], number: int, owner: dict[tuple[object, ...], int]) -> int:
    """Return the index of the session that a session came from; −1 for none. It is earlier in order, or no descendant,
    so there is no cycle.
    """
    use = order[number]
    named = [
        place
        for place, other in enumerate(order)
        if place != number
        and ((use.parent and other.id == use.parent) or (other.continued and other.continued == use.id))
    ]
    for place in (*named, *(owner[request.key] for request in use.requests)):
        if place < number or (place in named and not _descends_from(order, place, use)):
            return place
    return -1


def _descends_from(order: Sequence[SessionUse], place: int, use: SessionUse) -> bool:
    """Return whether a session names another as parent, directly or indirectly."""
    seen: set[int] = set()
    while place not in seen:
        seen.add(place)
        above = order[place].parent
        if not above:
            return False
        if above == use.id:
            return True
        place = next((n for n, other in enumerate(order) if other.id == above), place)
    return False


def tree_at(home: Path, path: Path | None = None, progress: Progress | None = None) -> SessionTree:
    """Return the trees of the sessions below a home folder, or only the tree that contains a file.

    Raises Cancelled, and InputError if the file cannot be read.
    """
    uses, _ = read_uses(home, progress)
    if path is not None and not any(Path(use.path) == path for use in uses):
        uses = [*uses, *_sessions_near(path)]
    rows = trees_of(uses)
    if path is not None:
        at = next(n for n, row in enumerate(rows) if Path(row.session.path) == path)
        first = max(n for n in range(at + 1) if rows[n].depth == 0)
        end = next((n for n in range(at + 1, len(rows)) if rows[n].depth == 0), len(rows))
        rows = rows[first:end]
    return SessionTree(rows, _sum("all", [row.own for row in rows]), price_table()["checked"])


def _sessions_near(path: Path) -> Iterator[SessionUse]:
    """Yield a file from elsewhere, and files of its format beside and below it."""
    from amgs.sessions.opening import format_of

    yield use_of(format_of(path).read(path))
    near = [*path.parent.glob(f"*{path.suffix}"), *path.with_suffix("").rglob(f"*{path.suffix}")]
    for other in near:
        if other != path:
            try:
                yield use_of(format_of(other).read(other))
            except AmgsError:
                continue


def usage_of_sessions(
    home: Path, by: SumBy, *, project: str = "", agent: str = "", progress: Progress | None = None
) -> SessionUsage:
    """Return what the requests of all sessions below a home folder used, each counted once.

    project: part of the folder's name; agent: key of a format. Raises Cancelled.
    """
    uses, failed = read_uses(home, progress)
    rows = trees_of(uses)
    sums: dict[str, UseSum] = {}
    task, folder, sessions = "", "", 0
    for row in rows:
        use = row.session
        if row.depth == 0:
            task, folder = use.title or use.id, ""
        folder = use.project or folder
        if project.lower() not in folder.lower() or (agent and agent != use.format):
            continue
        sum_names: set[str] = set()
        sessions += 1
        for request in use.requests:
            day = f"{request.at.astimezone():%Y-%m-%d}" if request.at else "unknown"
            names = {"task": task, "project": folder, "day": day, "model": request.model}
            name = names[by] or "unknown"
            sum_names.add(name)
            sums[name] = sums.get(name, UseSum(name)).plus(request)
        for name in sum_names:
            sums[name] = replace(sums[name], sessions=sums[name].sessions + 1)
    order = sorted(
        sums.values(),
        key=lambda use_sum: use_sum.name if by == "day" else -(use_sum.cost or use_sum.fresh + use_sum.cached),
    )
    total = replace(_sum("all", order), sessions=sessions)
    return SessionUsage(by, tuple(order), total, price_table()["checked"], failed)


def _sum(name: str, sums: Sequence[UseSum]) -> UseSum:
    fields = ("sessions", "requests", "fresh", "written", "cached", "output", "unpriced")
    whole = {field: sum(getattr(use_sum, field) for use_sum in sums) for field in fields}
    return UseSum(name, **whole, cost=sum(use_sum.cost for use_sum in sums))
