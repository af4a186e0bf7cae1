"""The processes of a Ray cluster, on this machine or on others, as an executor."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from amgs.errors import UsageError
from amgs.extras import explained

P = ParamSpec("P")
R = TypeVar("R")
LOCAL = "local"
_PATIENCE = 5.0
"""Seconds to wait for the head of a cluster."""


class RayExecutor(Executor):
    """Computes in tasks of Ray, each with one core. address: host:port of the head of a cluster that runs, whose
    machines have this package and the models; "local" begins one on this machine with so many cores, which ends with
    the executor. Raises MissingExtraError without the package ray, UsageError where no cluster answers.
    """

    def __init__(self, address: str, cores: int) -> None:
        local = address == LOCAL
        if not local:
            _check_answers(address)
        with explained():
            import ray
        self._ray = ray
        try:
            ray.init(
                None if local else address,
                num_cpus=cores if local else None,
                include_dashboard=False if local else None,
                log_to_driver=False,
                logging_level=logging.ERROR,
            )
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise _none(address, str(error)) from error
        resources: Any = ray
        self.width = max(1, int(resources.cluster_resources().get("CPU", 1)))
        """How many tasks it computes at a time."""

    def submit(self, fn: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> Future[R]:
        """Compute on some machine of the cluster. Ray tries again by itself where that machine is gone."""
        made: Any = self._ray.remote(num_cpus=1)(fn)
        future: Future[R] = made.remote(*args, **kwargs).future()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Leave the cluster; one that was begun here ends."""
        del wait, cancel_futures
        self._ray.shutdown()


def _check_answers(address: str) -> None:
    """Raise UsageError where nobody listens: Ray itself goes on asking for minutes."""
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=_PATIENCE).close()
    except (OSError, ValueError, OverflowError) as error:
        raise _none(address, str(error)) from error


def _none(address: str, why: str) -> UsageError:
    return UsageError(
        f"No Ray cluster can be used at {address!r}: {why.strip().partition(chr(10))[0]}.",
        way_out="Give the host:port of its head, or `local` for one on this machine.",
    )
