"""What works on a memory beside those who ask: agents, workers with their tasks, an index outside the process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs_app.render.catalogue import entry
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from amgs.types import IndexBuild, IndexStatus
    from amgs.types.tasks import Task, WorkerList
    from amgs_app.agents.states import AgentClaim, AgentList, AgentState
    from amgs_app.results.memory import TasksAsked


_COLUMNS = "task:n kind what state until:at~ attempts:n worker~ changed:at result*"


def _rows(tasks: Sequence[Task]) -> list[tuple[object, ...]]:
    return [
        (
            each.number,
            each.kind,
            _what(each),
            each.state,
            each.not_before,
            each.attempts,
            each.worker or None,
            each.changed_at,
            each.result,
        )
        for each in tasks
    ]


def _what(task: Task) -> str:
    """What the task is about: a range of running numbers, at most so many blocks."""
    asked = task.parameters
    if "first" in asked:
        return f"{asked['first']:,}–{asked['last']:,}"
    return f"at most {asked['limit']:,}" if "limit" in asked else ""


@entry()
def worker_list(result: WorkerList) -> ResultTable:
    told = [f"{count:,} {name}" for name, count in result.counts.items()]
    workers = [
        f"{each.name}: {', '.join(each.kinds)}, since {each.since:%Y-%m-%d %H:%M:%S}, "
        f"{plural(each.done, 'task')} done, {each.failed:,} failed"
        for each in result.workers
    ]
    note = "" if workers else "No worker is there: `amgs workers run` runs one."
    failed = any(each.state == "failed" for each in result.tasks)
    return sheet(
        f"{plural(len(result.workers), 'worker')}; tasks: {', '.join(told) or 'none'}",
        _COLUMNS,
        _rows(result.tasks),
        (*workers, note, "`workers enqueue --failed` has those that failed tried again." if failed else ""),
    )


@entry()
def tasks_asked(result: TasksAsked) -> ResultTable:
    return sheet(f"{plural(len(result.tasks), 'task')} asked for", _COLUMNS, _rows(result.tasks))


def _built(result: IndexBuild) -> str:
    if not result.changed:
        return f"The index is up to date: {plural(result.rows, 'block')}"
    return f"Wrote {result.changed:,} of {plural(result.rows, 'block')} in {result.seconds:.1f} s"


@entry(sentence=_built)
def index_build(result: IndexBuild) -> ResultTable:
    row = (result.version, result.built_at, result.rows, result.changed, f"{result.seconds:.1f}")
    return sheet("Index", "version:n built_at:n rows:n changed:n seconds:n", [row], (result.place,))


def _stands(result: IndexStatus) -> str:
    if not result.version:
        return f"The index is not built: {plural(result.lag, 'block')} stand beside it"
    return f"{result.lag:,} of {plural(result.rows, 'block')} changed since the index was built"


@entry(sentence=_stands)
def index_status(result: IndexStatus) -> ResultTable:
    size = f"{result.size / 1e6:,.1f}"
    row = (result.version, result.built_at, result.store_at, result.lag, result.rows, size)
    columns = "version:n built_at:n store_at:n lag:n rows:n MB:n"
    return sheet(_stands(result), columns, [row], (result.place,))


_AGENT_COLUMNS = "agent state last:at outcome* does*? runs:n failures:n~"


def _row(state: AgentState) -> tuple[object, ...]:
    said = "paused" if state.paused else f"run by {state.holder}" if state.holder else "resting"
    return (state.name, said, state.last, state.outcome, state.does, state.runs, state.failures or None)


def _counts(result: AgentList) -> str:
    runs = sum(bool(each.holder) for each in result.agents)
    rest = sum(each.paused for each in result.agents)
    return f"{plural(len(result.agents), 'agent')}: {runs} running, {rest} paused"


@entry(sentence=_counts)
def agent_list(result: AgentList) -> ResultTable:
    note = "`amgs agents run` runs them; `agents pause NAME` lets one rest."
    return sheet("Agents", _AGENT_COLUMNS, [_row(each) for each in result.agents], (note,))


@entry()
def agent_state(result: AgentState) -> ResultTable:
    return sheet(f"Agent {result.name}", _AGENT_COLUMNS, [_row(result)])


@entry()
def agent_claim(result: AgentClaim) -> ResultTable:
    said = "granted" if result.granted else "refused"
    return sheet(f"Agent {result.agent.name}: {said}, {result.because}", _AGENT_COLUMNS, [_row(result.agent)])
