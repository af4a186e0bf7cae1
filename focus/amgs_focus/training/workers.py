"""Processes that train one net together, and the wire to the one that asked for them.

Worker 0 speaks for all. A worker stops between two steps when its pipe is closed or says so, and all others with it, so
that a run whose program was killed saves itself and ends.
"""

from __future__ import annotations

import datetime
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import distributed

from amgs_focus.errors import FocusError
from amgs_focus.training.data_parallel import DataParallel


class Job(Protocol):
    """What every worker runs; it must be importable by name, and its values picklable."""

    def __call__(
        self, parallel: DataParallel, report: Callable[[Any], None], stopped: Callable[[], bool]
    ) -> None: ...


def run_workers(job: Job, count: int, report: Callable[[Any], None]) -> None:
    """Runs a job in `count` one-threaded processes until all have ended; `report` gets what worker 0 reports.

    When `report` raises, the workers are told to stop and the error goes on once it has. A FocusError of a worker
    goes on as it is, its unexpected end as a FocusError.
    """
    context = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        ours, started = [], []
        for rank in range(count):
            mine, theirs = context.Pipe()
            process = context.Process(
                target=_work, args=(job, theirs, rank, count, str(Path(folder) / "meeting")), daemon=True
            )
            process.start()
            theirs.close()
            ours.append(mine)
            started.append(process)
        try:
            _listen(ours, report)
        finally:
            for wire in ours:
                wire.close()
            for process in started:
                process.join()


def _listen(wires: list[Connection], report: Callable[[Any], None]) -> None:
    open_wires, done = list(wires), 0
    failure: BaseException | None = None
    while open_wires:
        ready = wait(open_wires)
        for wire in [one for one in open_wires if one in ready]:
            try:
                kind, value = wire.recv()
            except (EOFError, ConnectionResetError):
                open_wires.remove(wire)
                continue
            if kind == "done":
                done += 1
            elif failure is not None:
                continue
            elif kind == "failed":
                failure = value
            else:
                try:
                    report(value)
                except BaseException as error:  # noqa: BLE001 - it goes on below, once the workers have saved
                    failure = error
        if failure is not None:
            _tell_to_stop(open_wires)
    if failure is not None:
        raise failure
    if done < len(wires):
        raise FocusError(
            "A worker ended without a message, perhaps because memory ran out.",
            way_out="Resume with fewer workers.",
        )


def _tell_to_stop(wires: list[Connection]) -> None:
    for wire in wires:
        try:
            wire.send("stop")
        except OSError:
            continue


def _work(job: Job, wire: Connection, rank: int, count: int, meeting: str) -> None:
    """The life of one worker."""
    # An interrupt at the keyboard reaches all processes; the one that asked cuts the wires.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    torch.set_num_threads(1)
    if sys.platform == "linux":
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    try:
        distributed.init_process_group(
            "gloo",
            init_method=f"file://{meeting}",
            rank=rank,
            world_size=count,
            timeout=datetime.timedelta(hours=1),
        )
        job(DataParallel(rank, count), lambda value: _send(wire, ("report", value)), wire.poll)
        distributed.destroy_process_group()
    except FocusError as error:
        _send(wire, ("failed", error))
    except Exception as error:  # noqa: BLE001 - a worker has nobody else to tell
        _send(wire, ("failed", FocusError(f"A worker failed: {error!r}.")))
    else:
        _send(wire, ("done", None))


def _send(wire: Connection, said: tuple[str, Any]) -> None:
    """Nobody may be listening any more; the workers stop when they next look at the pipe."""
    try:
        wire.send(said)
    except OSError:
        return
