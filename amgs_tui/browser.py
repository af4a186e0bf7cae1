"""The workstation in a browser on the same machine; each connected page runs its own workstation.

Only the loopback address is served, and only pages from there: whoever can type into the page can do what the operator
can. Nothing is loaded from other sites.
"""

from __future__ import annotations

import re
import shlex
import socket
import sys
from collections.abc import Awaitable, Callable, Sequence

from aiohttp import WSCloseCode, web
from textual_serve.app_service import AppService
from textual_serve.server import Server

from amgs.errors import UsageError

LOOPBACK = "127.0.0.1"
_FOREIGN = re.compile(r"<link[^>]*https://[^>]*>", re.DOTALL)


class LoopbackServer(Server):
    """textual-serve's server, closed to other machines and to pages of other sites."""

    def __init__(self, command: str, port: int) -> None:
        super().__init__(command, host=LOOPBACK, port=port, title="amgs")
        self._open: set[web.WebSocketResponse] = set()

    async def _make_app(self) -> web.Application:
        app = await super()._make_app()
        app.middlewares.append(self._only_own_pages)
        return app

    @web.middleware
    async def _only_own_pages(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        """Refuse foreign host names that resolve to this machine, and requests from pages of other sites."""
        own = {f"{name}:{self.port}" for name in (LOOPBACK, "localhost")}
        origin = request.headers.get("Origin")
        if request.host not in own or (origin is not None and origin.partition("//")[2] not in own):
            raise web.HTTPForbidden(text="The workstation answers only its own pages.")
        return await handler(request)

    async def handle_index(self, request: web.Request) -> web.StreamResponse:
        """Return the page without the font that it would load from another site."""
        page = await super().handle_index(request)
        if isinstance(page, web.Response) and page.text is not None:
            page.text = _FOREIGN.sub("", page.text)
        return page

    async def _process_messages(self, websocket: web.WebSocketResponse, app_service: AppService) -> None:
        """Run until the page is closed and its workstation has closed the store."""
        self._open.add(websocket)
        try:
            await super()._process_messages(websocket, app_service)
        finally:
            self._open.discard(websocket)
            await app_service.stop()
            if app_service._process is not None:
                await app_service._process.wait()

    async def on_shutdown(self, app: web.Application) -> None:
        """Notify open pages, so that their workstations end before the server's timeout."""
        await super().on_shutdown(app)
        for page in tuple(self._open):
            await page.close(code=WSCloseCode.GOING_AWAY)

    async def on_startup(self, app: web.Application) -> None:
        """Print the page's address."""
        del app
        self.console.print(f"The workstation is at {self.public_url}. Ctrl-C ends it.", highlight=False)


def serve(options: Sequence[str], port: int) -> int:
    """Serve until ctrl-c; return the exit code.

    options: of the `amgs` command that each page runs. Raises UsageError if the port is in use.
    """
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError as error:
            raise UsageError(
                f"Port {port} cannot be used: {error.strerror}.",
                title="The page cannot be served",
                way_out="Choose another with --port.",
            ) from error
    LoopbackServer(shlex.join([sys.executable, "-m", "amgs_tui", *options]), port).serve()
    return 0
