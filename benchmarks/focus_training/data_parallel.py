"""Workers that train one net together: each reads its own windows, and their gradients are averaged."""

from __future__ import annotations

import datetime
import multiprocessing
import os
import signal
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import distributed

from amgs_focus.errors import FocusError


class DataParallel:
    """One worker's place among `count`, over the process group that it joined; alone, all of it is free.

    What every worker computes from here on is equal bit for bit, so one of them can speak for all.
    """

    def __init__(self, rank: int = 0, count: int = 1) -> None:
        self.rank = rank
        self.count = count

    def part(self, number: int, count: int) -> DataParallel:
        """The place of pass `number` of this worker's `count`, among the passes of all workers: to draw by."""
        return self if count == 1 else DataParallel(self.rank * count + number, self.count * count)

    def average(self, tensors: Sequence[torch.Tensor]) -> None:
        """Replaces each tensor by its mean over the workers, in one message."""
        if self.count == 1 or not tensors:
            return
        flat = torch.cat([tensor.flatten() for tensor in tensors])
        distributed.all_reduce(flat)
        flat /= self.count
        for tensor, mean in zip(tensors, torch.split(flat, [t.numel() for t in tensors]), strict=True):
            tensor.copy_(mean.view_as(tensor))

    def share(self, owners: Mapping[torch.Tensor, int]) -> None:
        """Every worker gets each tensor as its owner has it."""
        if self.count == 1:
            return
        with torch.no_grad():
            for owner in range(self.count):
                own = [tensor for tensor, rank in owners.items() if rank == owner]
                if not own:
                    continue
                flat = torch.cat([tensor.flatten() for tensor in own])
                distributed.broadcast(flat, owner)
                if owner != self.rank:
                    for tensor, part in zip(own, torch.split(flat, [t.numel() for t in own]), strict=True):
                        tensor.copy_(part.view_as(tensor))

    def any(self, flag: bool) -> bool:
        """Whether the flag is up at one of the workers."""
        if self.count == 1:
            return flag
        raised = torch.tensor(float(flag))
        distributed.all_reduce(raised)
        return bool(raised > 0)

    def gather(self, found: Mapping[str, float]) -> dict[str, float]:
        """What all workers found, by name, in the order of the workers."""
        if self.count == 1:
            return dict(found)
        every: list[dict[str, float]] = [{} for _ in range(self.count)]
        distributed.all_gather_object(every, dict(found))
        return {name: value for one in every for name, value in one.items()}


SINGLE = DataParallel()


class Job(Protocol):
    """What every worker runs; it must be importable by name, and its values picklable."""

    def __call__(self, parallel: DataParallel, report: Callable[[Any], None], stopped: Callable[[], bool]) -> None: ...


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
            "A worker ended without a message, perhaps because memory ran out.", way_out="Resume with fewer workers."
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
            "gloo", init_method=f"file://{meeting}", rank=rank, world_size=count, timeout=datetime.timedelta(hours=1)
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
