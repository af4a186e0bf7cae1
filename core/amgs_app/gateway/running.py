"""`amgs gateway`: the service with the gateway's routes added."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING, Final

from amgs import extras

if TYPE_CHECKING:
    from pathlib import Path

    from amgs.types.conversation import ContextConfiguration
    from amgs_app.engine import Options

OWN: Final = "own"
"""Value of --upstream for this program's own model."""


def serve(
    options: Options,
    upstream: str,
    budget: int,
    configuration: ContextConfiguration,
    *,
    host: str,
    port: int,
    root: Path | str | None,
    tokens: Path | None,
    otlp: str = "",
) -> int:
    """Serve until interrupted; return the exit code.

    budget: tokens, 0 to send everything. configuration: how messages are chosen. otlp: address of a collector, "" for
    none. Raises UsageError for an invalid address, and what `server.running.serve` raises.
    """
    with extras.explain_missing("server"):
        from amgs_app.gateway.forwarding import routes
        from amgs_app.gateway.upstream import Upstream
        from amgs_app.server import running
    address = _serve_model(options) if upstream == OWN else upstream
    more = partial(routes, upstream=Upstream(address), budget=budget, configuration=configuration)
    return running.serve(
        options, host=host, port=port, root=root, tokens=tokens, upstream=address, otlp=otlp, more=more
    )


def _serve_model(options: Options) -> str:
    """Serve this program's model on a free port of this machine, in a thread; return the address."""
    import uvicorn

    from amgs_app.engine import Engine
    from amgs_app.gateway.served_model import model_app
    from amgs_app.server.running import listen

    listening = listen("127.0.0.1", 0)
    config = uvicorn.Config(model_app(Engine(options).load_model), log_config=None, access_log=False)
    serving = threading.Thread(target=uvicorn.Server(config).run, kwargs={"sockets": [listening]}, daemon=True)
    serving.start()
    return f"http://127.0.0.1:{listening.getsockname()[1]}"
