"""The table `tasks`: what workers are asked to do.

A task is claimed by one of them at a time, and claimed again where that one is gone.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from amgs.clock import as_utc
from amgs.storage.connection import SqlConnection, stored
from amgs.types.tasks import Task, TaskKind

_READ = (
    "SELECT number, kind, parameters::VARCHAR, wanted_at, state, not_before, attempts, worker, result, changed_at "
    "FROM tasks"
)


class TaskStorage:
    """The table of tasks; written inside a transaction, which one writer of a store is in at a time: between the look
    for a task and its claim nobody else claims it. None of this is a change of the memory.
    """

    def __init__(self, connection: SqlConnection) -> None:
        self._connection = connection

    def add(self, kind: TaskKind, parameters: Mapping[str, Any], wanted_at: int, now: datetime) -> Task:
        """Ask for something."""
        # The latest tasks are never forgotten, so that no number is given twice.
        number = int(self._connection.value("SELECT coalesce(max(number), 0) + 1 FROM tasks"))
        task = Task(number, kind, dict(parameters), wanted_at, "waiting", None, 0, "", "", now)
        self._write("INSERT INTO tasks VALUES (?, ?, ?::JSON, ?, ?, ?, ?, ?, ?, ?)", _values(task))
        return task

    def get(self, number: int) -> Task | None:
        """The task with this number."""
        found = self._tasks(f"{_READ} WHERE number = ?", [number])
        return found[0] if found else None

    def unfinished(self) -> tuple[Task, ...]:
        """Those that wait, run or failed, in the order in which they were asked for."""
        return self._tasks(f"{_READ} WHERE state <> 'done' ORDER BY number")

    def latest(self, limit: int) -> tuple[Task, ...]:
        """The open ones and those that failed, then what was done last; `limit` in all."""
        order = "CASE state WHEN 'running' THEN 0 WHEN 'waiting' THEN 1 WHEN 'failed' THEN 2 ELSE 3 END"
        return self._tasks(f"{_READ} ORDER BY {order}, changed_at DESC, number DESC LIMIT ?", [limit])

    def counts(self) -> Mapping[str, int]:
        """How many there are by kind and state, as "embedding waiting"."""
        rows = self._connection.rows(
            "SELECT kind, state, count(*) FROM tasks GROUP BY kind, state ORDER BY kind, state"
        )
        return {f"{kind} {state}": int(n) for kind, state, n in rows}

    def claimable(self, kinds: Collection[TaskKind], now: datetime) -> Task | None:
        """The first task of these kinds that waits, or whose worker's lease has run out."""
        found = self._tasks(
            f"{_READ} WHERE state IN ('waiting', 'running') AND (not_before IS NULL OR not_before <= ?) "
            "AND kind IN (SELECT unnest(?::VARCHAR[])) ORDER BY number LIMIT 1",
            [stored(now), list(kinds)],
        )
        return found[0] if found else None

    def put(self, task: Task) -> None:
        """Keep a task in place of what is there under its number."""
        number, _, parameters, *rest = _values(task)
        self._write(
            "UPDATE tasks SET parameters = ?::JSON, wanted_at = ?, state = ?, not_before = ?, attempts = ?, "
            "worker = ?, result = ?, changed_at = ? WHERE number = ?",
            [parameters, *rest, number],
        )

    def forget_done(self, keep: int) -> None:
        """Drop the tasks that are done but for the latest `keep`."""
        self._write(
            "DELETE FROM tasks WHERE state = 'done' AND number <= (SELECT max(number) FROM tasks) - ?", [keep]
        )

    def _write(self, sql: str, parameters: Sequence[Any]) -> None:
        self._connection.execute(sql, parameters, structural=False, counted=False)

    def _tasks(self, sql: str, parameters: Sequence[Any] = ()) -> tuple[Task, ...]:
        return tuple(_task(row) for row in self._connection.rows(sql, parameters))


def _values(task: Task) -> list[Any]:
    return [
        task.number,
        task.kind,
        json.dumps(dict(task.parameters), sort_keys=True),
        task.wanted_at,
        task.state,
        None if task.not_before is None else stored(task.not_before),
        task.attempts,
        task.worker,
        task.result,
        stored(task.changed_at),
    ]


def _task(row: Sequence[Any]) -> Task:
    number, kind, parameters, wanted_at, state, not_before, attempts, worker, result, changed_at = row
    return Task(
        int(number),
        kind,
        json.loads(parameters),
        int(wanted_at),
        state,
        None if not_before is None else as_utc(not_before),
        int(attempts),
        str(worker),
        str(result),
        as_utc(changed_at),
    )
