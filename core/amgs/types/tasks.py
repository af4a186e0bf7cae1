"""What workers are asked to do, and who does it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final, Literal, get_args

TaskKind = Literal["embedding", "consolidation", "centrality", "index"]
TASK_KINDS: Final[tuple[TaskKind, ...]] = get_args(TaskKind)
TaskState = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class Task:
    """One task. wanted_at: the change counter when it was asked for. not_before: of a running task the end of its
    lease, after which another worker takes it; of a waiting one when it may be tried again. attempts: how often it was
    claimed. worker: who has it, or had it last. result: what came of it, or why the last attempt failed.
    """

    number: int
    kind: TaskKind
    parameters: Mapping[str, Any] = field(hash=False)
    wanted_at: int
    state: TaskState
    not_before: datetime | None
    attempts: int
    worker: str
    result: str
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class WorkerState:
    """A worker as it last told of itself. until: it is taken for gone then. done, failed: attempts that ended so."""

    name: str
    kinds: tuple[TaskKind, ...]
    since: datetime
    until: datetime
    done: int = 0
    failed: int = 0


@dataclass(frozen=True, slots=True)
class WorkerList:
    """Workers and tasks. workers: those that are not gone. tasks: the open and the failed ones, then the latest that
    are done. counts: how many tasks there are by kind and state, as "embedding waiting".
    """

    workers: tuple[WorkerState, ...]
    tasks: tuple[Task, ...]
    counts: Mapping[str, int] = field(hash=False)
    now: datetime
