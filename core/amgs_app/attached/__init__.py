"""A memory that is served elsewhere, used as if it were here: operations and questions go over the wire.

What speaks over the wire is imported only where it is wanted.
"""

from __future__ import annotations

from amgs_app.engine import Engine, Options


def engine_of(options: Options) -> Engine:
    """The engine that the options name: one that is served elsewhere, or one of this process."""
    if not options.connect:
        return Engine(options)
    from amgs_app.attached.remote_engine import RemoteEngine

    return RemoteEngine(options)
