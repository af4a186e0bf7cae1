"""Sessions that agents left on this machine: `session`, `follow`. Nothing of them is stored."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from amgs.errors import UsageError
from amgs_app.calls.marks import Arg, Option, Takes
from amgs_app.calls.operation import operation
from amgs_app.pages.writing import Html, Redact, palettes, write_page

if TYPE_CHECKING:
    from amgs.sessions.turn import Session, Turn
    from amgs.types import Progress
    from amgs.wings.sessions.listing import FoundTurns, SessionListing
    from amgs.wings.sessions.losses import LossReason
    from amgs.wings.sessions.regrets import Regret
    from amgs.wings.sessions.review import SessionReview
    from amgs.wings.sessions.tasks import SessionTree, SessionUsage
    from amgs_app.engine import Engine
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

View = Literal["overview", "turns", "window", "text", "lost", "why", "regret", "cache", "rules", "outlook"]
SumBy = Literal["task", "project", "day", "model"]
Program = Literal["markdown", "claude-code", "codex"]
Class = Literal["path", "number", "id", "command", "decision", "constraint", "error"]
USAGE = "usage"
"""Name that stands for the sums over all sessions."""
SAMPLE = "sample"
"""Name of a session that ships with the program as an example."""
_TURNS, _FOUND = 200, 20


@operation(
    "session",
    place="here",
    summary="Open a session of a coding agent: what was in its window, what was lost, what that cost.",
    synonyms=("claude code", "codex", "transcript", "compaction", "sessions", "rollout"),
    example="session --agent codex",
    pane="sessions",
    long=True,
)
def session(
    engine: Engine,
    name: Annotated[
        str,
        Arg(
            metavar="FILE|ID",
            help="A session file, the beginning of an id, last, sample, or usage for sums of all; default: list them.",
        ),
        Takes("file"),
    ] = "",
    *,
    view: Annotated[
        View,
        Option(
            "--view", metavar="VIEW", help="overview, turns, window, text, lost, why, regret, cache, rules or outlook."
        ),
    ] = "overview",
    at: Annotated[
        int | None,
        Option("--at", metavar="TURN", min=1, help="Of which turn; default: the last, or the last compaction."),
    ] = None,
    kind: Annotated[
        Class | None, Option("--class", metavar="CLASS", help="With lost: only this class, such as path or constraint.")
    ] = None,
    find: Annotated[
        str,
        Option(
            "--find",
            metavar="WORDS",
            help="Of turns, those that hold these words, without FILE in all sessions; with why, what is lost.",
        ),
    ] = "",
    project: Annotated[
        str, Option("--project", metavar="NAME", help="Of a list: projects whose folder holds this.")
    ] = "",
    agent: Annotated[
        str, Option("--agent", metavar="NAME", help="Of a list: sessions of a program, such as claude-code.")
    ] = "",
    tree: Annotated[
        bool, Option("--tree", help="Subagents, forks, resumed and copied sessions as one tree; each request once.")
    ] = False,
    by: Annotated[SumBy, Option("--by", metavar="BY", help="Of usage: sums by task, project, day or model.")] = "task",
    subagents: Annotated[bool, Option("--subagents", help="Of a list: also files of subagents.")] = False,
    limit: Annotated[
        int | None,
        Option(
            "--limit", metavar="N", min=1, help="Show at most N; default: 50 sessions, 200 turns, 20 of all sessions."
        ),
    ] = None,
    brief: Annotated[
        int | None,
        Option("--brief", metavar="TOKENS", min=200, help="What another agent must know, in so many tokens."),
    ] = None,
    program: Annotated[
        Program,
        Option("--for", metavar="PROGRAM", help="Of a brief: markdown, or as a message of claude-code or codex."),
    ] = "markdown",
    end: Annotated[
        bool, Option("--end", help="Read only the end of a large file, at once; turns are numbered from there.")
    ] = False,
    html: Html = None,
    redact: Redact = False,
    progress: Progress | None = None,
) -> (
    SessionListing
    | SessionTree
    | SessionUsage
    | FoundTurns
    | SessionReview
    | SessionTurns
    | SessionWindowShown
    | SessionText
    | SessionHandOver
    | SessionLosses
    | SessionWhy
    | SessionRegrets
    | SessionCache
    | SessionRules
    | SessionOutlook
):
    """Without FILE, list the sessions of coding agents that lie on this machine, printed newest last, as data newest
    first, or with --find what was said and done in any of them that holds all words. With a FILE, look at it.

    Its views:
    - overview: how full the window was, what each compaction threw away, what was needed again and what that cost:
      `session last`
    - turns: what was said and done: `session last --view turns --find deploy`
    - window: what the model read for a turn, in order: `session last --view window --at 40`
    - text: a turn in full: `session last --view text --at 40`
    - lost: what compactions threw away, by class: `session last --view lost --class path`
    - why: what became of a thing: `session last --view why --find deploy.md`
    - regret: what of it was needed again, beside what is done again anyway: `session last --view regret`
    - cache: what each request read from the provider's cache: `session last --view cache`
    - rules: instructions that were loaded, and rules that were broken: `session last --view rules`
    - outlook: what a compaction now would drop: `session last --view outlook`

    Nothing is changed or stored, and no model is asked.

    With --brief, write what another agent must know to go on, in the session's own words with their turns: the task,
    constraints, what was about to be done, the state of each changed file, what failed and how it was mended,
    decisions, commands. --for makes it the first message of another program.

    --html also writes the overview as a page that any browser shows, without a script and without loading anything;
    --redact leaves out every word and path of the session.

    With --tree, a session, or all of them, with those that came from it; `session usage` sums the tokens and the cost
    of all sessions by task, project, day or model, each request once.
    """
    from amgs_app.views.sessions.results import (
        SessionCache,
        SessionHandOver,
        SessionLosses,
        SessionOutlook,
        SessionRules,
        SessionText,
        SessionWindowShown,
    )

    if name == USAGE:
        from amgs.wings.sessions.tasks import usage_of_sessions

        _check_agent(agent)
        return usage_of_sessions(Path.home(), by, project=project, agent=agent, progress=progress)
    if tree:
        from amgs.wings.sessions.tasks import tree_at

        return tree_at(Path.home(), _path_of(name) if name else None, progress)
    if not name and find:
        from amgs.wings.sessions.listing import search_sessions

        return search_sessions(Path.home(), find, limit=limit or _FOUND, progress=progress)
    if not name:
        return _list(project, agent, subagents=subagents, limit=limit or 50)
    _check(view, at=at, kind=kind, find=find, html=html)
    opened = open_named(name, end=end)
    from amgs.wings.sessions.review import facts_of
    from amgs.wings.sessions.work import row_of

    facts = facts_of(opened)
    if brief is not None:
        from amgs.wings.sessions.brief import as_first_message, write_brief

        written_brief = write_brief(opened, brief, mask=engine.settings.memory.ingest.mask)
        return SessionHandOver(facts, as_first_message(written_brief.text, program), written_brief.tokens)
    match view:
        case "turns":
            return _turns(opened, find, at, limit or _TURNS)
        case "window":
            from amgs.sessions.turn import tokens_of_all, window_at

            window = window_at(opened, _turn(opened, at).number)
            return SessionWindowShown(
                facts,
                window.turn,
                tuple(row_of(opened, turn) for turn in window.turns),
                window.tokens,
                tokens_of_all(opened, window.turns),
                window.estimated,
                opened.system,
                opened.tools,
                len(window.masked),
            )
        case "text":
            from amgs.wings.sessions.work import diff_of

            turn = _turn(opened, at)
            return SessionText(facts, replace(turn, text=opened.text(turn), cut=0), diff_of(turn))
        case "lost":
            from amgs.wings.sessions.losses import losses

            every = losses(opened)
            selection = tuple(loss for loss in every if at is None or loss.boundary == at)
            if at is not None and not selection:
                _no_boundary(opened, at)
            return SessionLosses(facts, selection, kind or "")
        case "why":
            return _why(opened, at, find)
        case "regret":
            return _regrets(opened, at)
        case "cache":
            from amgs.wings.sessions.work import cache_line

            return SessionCache(facts, cache_line(opened))
        case "rules":
            from amgs.wings.sessions.losses import find_broken_rules

            return SessionRules(facts, opened.rules, find_broken_rules(opened))
        case "outlook":
            from amgs.wings.sessions.losses import look_ahead

            return SessionOutlook(facts, look_ahead(opened, at))
    from amgs.wings.sessions.review import review

    reviewed = review(opened, progress)
    if html is not None:
        from amgs_app.views.sessions.figure import of_session

        page = of_session(reviewed, palettes(), redacted=redact)
        write_page(html, engine.settings.memory.ingest.mask(page))
    return reviewed


def open_named(name: str, *, end: bool = False) -> Session:
    """Open a session by file or prefix of its id; raises InputError if there is none.

    end: read only the end of a large file.
    """
    from amgs.sessions.opening import open_end, open_session

    path, id = _place_of(name)
    opened = open_end(path) if end and id is None else open_session(path, id)
    shown = SAMPLE if name == SAMPLE else f"{path}#{id}" if id is not None else opened.path
    return replace(opened, path=shown)


def _path_of(name: str) -> Path:
    return _place_of(name)[0]


def _place_of(name: str) -> tuple[Path, str | None]:
    """Return the file of a session, and its id if the file contains several."""
    from amgs.wings.sessions.listing import find_session

    if name == SAMPLE:
        return Path(__file__).with_name("sample.jsonl"), None
    path = Path(name).expanduser()
    file, _, id = name.rpartition("#")
    if file and not path.exists() and (whole := Path(file).expanduser()).is_file():
        return whole, id
    is_path = path.exists() or "/" in name or path.suffix in (".jsonl", ".json", ".db", ".md")
    return (path, None) if is_path else find_session(Path.home(), name)


def _check_agent(agent: str) -> None:
    from amgs.sessions.opening import FORMATS

    if agent and agent not in (known := [session_format.key for session_format in FORMATS]):
        raise UsageError(f"No agent is called {agent!r} here.", way_out=f"Known: {', '.join(known)}.")


def _list(project: str, agent: str, *, subagents: bool, limit: int) -> SessionListing:
    from amgs.wings.sessions.listing import list_sessions

    _check_agent(agent)
    return list_sessions(Path.home(), project=project, agent=agent, subagents=subagents, limit=limit)


_FOR_VIEWS = {
    "at": ("turns", "window", "text", "lost", "why", "regret", "outlook"),
    "kind": ("lost",),
    "find": ("turns", "why"),
    "html": ("overview",),
}


def _check(view: View, **options: object) -> None:
    """Refuse options that a view does not take."""
    for name, value in options.items():
        if value not in (None, "", False) and view not in _FOR_VIEWS[name]:
            option = "class" if name == "kind" else name
            raise UsageError(
                f"--{option} means nothing with `--view {view}`.", way_out=f"It is for {', '.join(_FOR_VIEWS[name])}."
            )


def _turn(opened: Session, at: int | None) -> Turn:
    if not opened.turns:
        raise UsageError("The session holds no turns.", way_out="Its overview tells what its records are.")
    if at is not None and at > len(opened.turns):
        raise UsageError(f"There is no turn {at}.", way_out=f"The last is {len(opened.turns)}.")
    return opened.turn(at) if at is not None else (opened.main or opened.turns)[-1]


def _no_boundary(opened: Session, at: int) -> None:
    marks = ", ".join(str(turn.number) for turn in opened.boundaries)
    raise UsageError(
        f"Turn {at} is no compaction.", way_out=f"Compactions: {marks}." if marks else "The session has none."
    )


def _turns(opened: Session, find: str, at: int | None, limit: int) -> SessionTurns:
    """Return the turns that contain the words, or those around a turn, or the last."""
    from amgs.wings.sessions.review import facts_of
    from amgs.wings.sessions.work import row_of
    from amgs_app.views.sessions.results import SessionTurns

    words = find.lower().split()
    turns = [
        turn
        for turn in opened.turns
        if not words or all(word in opened.text(turn).lower() + turn.words.lower() for word in words)
    ]
    shown = turns[-limit:]
    if at is not None:
        place = next((n for n, turn in enumerate(turns) if turn.number >= _turn(opened, at).number), len(turns))
        start = max(0, place - limit // 2)
        shown = turns[start : start + limit]
    return SessionTurns(facts_of(opened), tuple(row_of(opened, turn) for turn in shown), len(turns), find)


def _why(opened: Session, at: int | None, subject: str) -> SessionWhy:
    """Return what happened to a text at a compaction, by default the last that dropped it."""
    from amgs.wings.sessions.losses import explain
    from amgs.wings.sessions.regrets import regrets
    from amgs.wings.sessions.review import facts_of
    from amgs_app.views.sessions.results import SessionWhy

    if not subject:
        raise UsageError("Say what is lost.", way_out="`--view why --find TEXT`, as `--view lost` lists it.")
    if at is not None and not any(turn.number == at for turn in opened.boundaries):
        _no_boundary(opened, at)
    for boundary in reversed([compaction for compaction in opened.boundaries if at in (None, compaction.number)]):
        reason = explain(opened, boundary, subject)
        if reason is not None:
            again = [
                regret for regret in regrets(opened) if regret.boundary == boundary.number and _about(regret, reason)
            ]
            return SessionWhy(facts_of(opened), reason, tuple(again))
    raise UsageError(
        f"No compaction dropped {subject[:60]!r}: no turn that left the window holds it.",
        way_out="`--view lost` lists what they dropped, `--view turns --find WORDS` all turns that hold words.",
    )


def _about(regret: Regret, reason: LossReason) -> bool:
    """Return whether the regret concerns the lost item, or comes from a turn that contained it."""
    return regret.what == reason.what or regret.before in reason.said


def _regrets(opened: Session, at: int | None) -> SessionRegrets:
    from amgs.wings.sessions.regrets import by_kind, regrets
    from amgs.wings.sessions.review import facts_of
    from amgs_app.views.sessions.results import SessionRegrets

    session_regrets = regrets(opened)
    kinds = by_kind(opened, session_regrets)
    if at is not None:
        if not any(turn.number == at for turn in opened.boundaries):
            _no_boundary(opened, at)
        session_regrets = tuple(regret for regret in session_regrets if regret.boundary == at)
    return SessionRegrets(facts_of(opened), session_regrets, kinds)


@operation(
    "follow",
    place="here",
    summary="Follow a session while its agent works, and tell before it compacts.",
    synonyms=("tail", "live", "watch"),
    example="follow 7f3a --until 300",
    pane="sessions",
    long=True,
)
def follow(
    engine: Engine,
    name: Annotated[
        str,
        Arg(metavar="FILE|ID", help="A session file, or the beginning of an id; default: the newest here."),
        Takes("file"),
    ] = "",
    *,
    until: Annotated[
        int, Option("--until", metavar="SECONDS", min=0, help="Stop after so long; default: when it is stopped.")
    ] = 0,
    progress: Progress | None = None,
) -> SessionOutlook:
    """Tell each second how full the window of a session is, and from 80 % on what a compaction would drop that is
    likely to be needed again. The file is only read.
    """
    from amgs.wings.sessions.listing import list_sessions
    from amgs.wings.sessions.review import facts_of
    from amgs.wings.sessions.review import follow as follow_session
    from amgs_app.views.sessions.results import SessionOutlook

    del engine
    if not name:
        sessions = list_sessions(Path.home(), seconds=0).sessions
        if not sessions:
            raise UsageError("No session lies here.", way_out="Give the path of a session file.")
        name = sessions[0].path
    opened, outlook = follow_session(_path_of(name), until or None, progress)
    return SessionOutlook(facts_of(opened), outlook)
