"""`amgs mcp`: the MCP tools over standard input and output, on a store opened here or on a memory served
elsewhere.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import anyio
import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import INVALID_REQUEST, PARSE_ERROR, ErrorData, JSONRPCError
from pydantic import ValidationError

from amgs.errors import AmgsError, StoreLockedError, UnreachableError
from amgs_app import __version__
from amgs_app.places.folders import LOCAL, holder_of, socket_of
from amgs_app.server.asking import Asked, Service
from amgs_app.server.hosting import DEFAULT, Namespace, Namespaces
from amgs_app.server.mcp import Headers, Tools, make_server
from amgs_app.server.running import letting_in, server_of
from amgs_app.server.tokens import Caller, Tokens
from amgs_app.shell.output import say

if TYPE_CHECKING:
    import uvicorn

    from amgs_app.engine import Options


_MESSAGE: Final = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
_HALF: Final = re.compile(r"\\u[dD][89a-fA-F]")
_UNSTORABLE: Final = "The text holds half a surrogate pair, which cannot be stored. Remove that character."
_INTERNAL: Final = -32603
_LEFT: Final = "The process that has the memory open ended before it answered: it may be done. Look, and ask again."


def speak(options: Options) -> int:
    """Answer MCP requests on standard input until it closes; return the exit code.

    If another process has the store open and accepts connections, requests go through it; when it ends, this process
    opens the store. Raises StoreError before the first answer if the store cannot be opened.
    """
    asyncio.run(_speak(options))
    return 0


async def _speak(options: Options) -> None:
    """Open or find the store, then answer requests here or pass them on."""
    holding = Holding(options)
    try:
        await asyncio.to_thread(holding.open)
        async with AsyncExitStack() as stack:
            if holding.is_open:
                await stack.enter_async_context(holding.letting_in())
                await _answer_lines(make_server(Tools(holding.who_asks))._lowlevel_server)
            else:
                await _pass_on(holding, stack)
    finally:
        holding.close()


async def _answer_lines(server: Server[Any]) -> None:
    """Answer each line of standard input. One that is no message is answered too: the library would only log it, and
    whoever sent it wait for ever.
    """
    async with stdio_server() as (incoming, outgoing), anyio.create_task_group() as group:
        passing, messages = anyio.create_memory_object_stream[SessionMessage | Exception](0)

        async def pass_on() -> None:
            async with passing:
                async for message in incoming:
                    if isinstance(message, Exception):
                        await outgoing.send(SessionMessage(refuse_line(message)))
                    else:
                        await passing.send(message)

        group.start_soon(pass_on)
        await server.run(messages, outgoing, server.create_initialization_options())
        group.cancel_scope.cancel()


def refuse_line(error: Exception) -> JSONRPCError:
    """Return the answer to a line that is no message, to its id where it has one."""
    fault: Any = error.errors()[0] if isinstance(error, ValidationError) else {"type": "json_invalid", "input": ""}
    asked, code, words = fault["input"], INVALID_REQUEST, "It is no message of MCP."
    if fault["type"] == "json_invalid":
        halved = _HALF.search(asked) is not None  # JSON for one reader and not for the other
        code, words = (INVALID_REQUEST, _UNSTORABLE) if halved else (PARSE_ERROR, "The line is no JSON.")
        try:
            asked = json.loads(asked)
        except (ValueError, RecursionError):
            asked = None
    number = asked.get("id") if isinstance(asked, dict) else None
    known = number if isinstance(number, int | str) else None
    return JSONRPCError(jsonrpc="2.0", id=known, error=ErrorData(code=code, message=words))


class Holding:
    """The store behind the tools: open in this process, or in another that accepts connections.

    space: its namespace; None while another process has the store open. socket: that process's socket file.
    """

    def __init__(self, options: Options) -> None:
        self._options = options
        self._namespaces = Namespaces(options)
        self.space: Namespace | None = None
        self.socket: Path | None = None

    def open(self) -> bool:
        """Open the store, or find the process that has it open; return whether it is open here."""
        self._namespaces = Namespaces(self._options)
        engine = self._namespaces.get(DEFAULT).engine
        engine.join = lambda: None
        store = engine.store_path
        self.socket = socket_of(store) if isinstance(store, Path) else None
        try:
            self.space = self._namespaces.open_shared()
        except StoreLockedError:
            holder = holder_of(store) if isinstance(store, Path) else None
            if holder is None:
                raise
            self.close()
            say(f"{engine.store_name} is open in process {holder}: this goes through it.")
        return self.is_open

    @property
    def is_open(self) -> bool:
        """Return whether the store is open in this process."""
        return self.space is not None

    def close(self) -> None:
        """Close what was opened here."""
        self._namespaces.close()

    async def who_asks(self, headers: Headers) -> Asked:
        """Return the request of this process's only client; headers are ignored."""
        del headers
        if self.space is None:
            raise UnreachableError("The store is not open here.", way_out="Start again.")
        return Asked(Service(self._namespaces, Tokens()), Caller("mcp", (DEFAULT,), "write"), self.space)

    def letting_in(self) -> AbstractAsyncContextManager[None]:
        """Accept other programs while the context is open."""
        return letting_in(self._namespaces.listening, self._make_server)

    def _make_server(self) -> uvicorn.Server:
        from amgs_app.server.service import create_app

        return server_of(create_app(self._namespaces, owns=False), lifespan=True)


async def _pass_on(holding: Holding, stack: AsyncExitStack) -> None:
    """Forward each message to the process that has the store open, as MCP over HTTP; open the store here once that
    process has ended.
    """
    running: set[asyncio.Task[None]] = set()
    opening = asyncio.Lock()

    async def ask(line: bytes) -> bytes:
        http = httpx2.AsyncClient(
            transport=httpx2.AsyncHTTPTransport(uds=str(holding.socket)), timeout=120, base_url=LOCAL
        )
        async with http:
            answer = await http.post("/mcp", content=line, headers=_MESSAGE)
            return answer.content.strip()

    async def ask_or_open(line: bytes) -> bytes:
        try:
            return await ask(line)
        except httpx2.ConnectError:  # it has ended: nothing has arrived there
            async with opening:
                if not holding.is_open:
                    opened = await asyncio.to_thread(holding.open)
                    if opened:
                        await stack.enter_async_context(holding.letting_in())
            return await ask(line)

    async def answer_line(line: bytes) -> None:
        try:
            reply = await ask_or_open(line)
        except (httpx2.HTTPError, AmgsError) as error:
            words = str(error) if isinstance(error, AmgsError) else _LEFT
            asked = json.loads(line).get("id")
            reply = json.dumps({"jsonrpc": "2.0", "id": asked, "error": {"code": _INTERNAL, "message": words}}).encode()
            reply = reply if asked is not None else b""
        if reply:
            sys.stdout.buffer.write(reply + b"\n")
            sys.stdout.buffer.flush()

    while line := await asyncio.to_thread(sys.stdin.buffer.readline):
        task = asyncio.create_task(answer_line(line))
        running.add(task)
        task.add_done_callback(running.discard)
        if b'"initialize"' in line:
            await task  # the protocol wants this answered before any other request
    await asyncio.gather(*running)


def relay(address: str, namespace: str = "", token: str = "") -> int:
    """Forward MCP requests on standard input to a served memory, and its answers back.

    Raises UnreachableError before the first answer if no service answers at the address.
    """
    try:
        asyncio.run(_relay(address.rstrip("/") + "/mcp", token, namespace))
    except* (httpx2.HTTPError, MCPError) as group:
        raise UnreachableError(
            f"No memory is served at {address}, or it refuses: {_first_message(group)}.",
            way_out="Start a service with `amgs serve`, and give its address and a token that it knows.",
        ) from group
    return 0


async def _relay(address: str, token: str, namespace: str) -> None:
    """Run an MCP server on standard input whose tools are those of the served memory."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    headers |= {"AMGS-Namespace": namespace} if namespace else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120, trust_env=False) as http,
        Client(streamable_http_client(address, http_client=http)) as served,
    ):
        await served.list_tools()

        async def list_tools(context: Any, parameters: Any) -> Any:
            del context
            return await served.list_tools(cursor=None if parameters is None else parameters.cursor)

        async def call_tool(context: Any, parameters: Any) -> Any:
            del context
            return await served.call_tool(parameters.name, parameters.arguments)

        local_server: Server[Any] = Server(
            "amgs",
            version=__version__,
            instructions=served.instructions,
            on_list_tools=list_tools,
            on_call_tool=call_tool,
        )
        await _answer_lines(local_server)


def _first_message(error: BaseException) -> str:
    """Return the message of the first error in nested exception groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
