"""Use a memory served elsewhere as if it were local: operations are sent to the service and run there.

Network modules are imported only if needed.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from amgs.extras import is_installed
from amgs_app.engine import Engine, Options
from amgs_app.places.folders import holder_of


def engine_of(options: Options) -> Engine:
    """Return the engine of the options: a client of the service for --connect, else an engine of this process."""
    if not options.connect:
        engine = Engine(options)
        engine.join = partial(join_process, engine)
        return engine
    from amgs_app.attached.remote_engine import RemoteEngine

    return RemoteEngine(options)


def join_process(engine: Engine) -> Engine | None:
    """Return an engine connected to the process that has this store open; None if there is none or it accepts no
    connections.
    """
    store = engine.store_path
    holder = holder_of(store) if isinstance(store, Path) else None
    if holder is None or not is_installed("httpx2"):
        return None
    from amgs_app.attached.remote_engine import JoinedEngine

    return JoinedEngine(engine, Path(store), holder)
