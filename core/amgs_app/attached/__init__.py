"""A memory that is served elsewhere, used as if it were here: operations and questions go over the wire.

What speaks over the wire is imported only where it is wanted.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from amgs.extras import installed
from amgs_app.engine import Engine, Options
from amgs_app.places.store_socket import holder_of


def engine_of(options: Options) -> Engine:
    """Return the engine that the options name: one that is served elsewhere, or one of this process."""
    if not options.connect:
        engine = Engine(options)
        engine.join = partial(join_process, engine)
        return engine
    from amgs_app.attached.remote_engine import RemoteEngine

    return RemoteEngine(options)


def join_process(engine: Engine) -> Engine | None:
    """Return an engine that works through the process which has the store of this one open and lets others in; None
    where none does.
    """
    store = engine.store_path
    holder = holder_of(store) if isinstance(store, Path) else None
    if holder is None or not installed("httpx2"):
        return None
    from amgs_app.attached.remote_engine import JoinedEngine

    return JoinedEngine(engine, Path(store), holder)
