"""The workers of a memory, and their tasks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from amgs.text.plural import plural
from amgs_app.render.catalogue import entry
from amgs_app.render.sheet import ResultTable, sheet

if TYPE_CHECKING:
    from amgs.types.tasks import Task, WorkerList
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
        f"{each.name}: {', '.join(each.kinds)} in {each.where}, since {each.since:%Y-%m-%d %H:%M:%S}, "
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
