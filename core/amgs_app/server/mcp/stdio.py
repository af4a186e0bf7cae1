"""`amgs mcp`: the tools over standard input and output, on a store of its own or on a served memory."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import httpx2
from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

from amgs.errors import UnreachableError
from amgs_app.server.asking import Asked, Service
from amgs_app.server.hosting import DEFAULT, Namespaces
from amgs_app.server.mcp.tools import Headers, Tools, make_server
from amgs_app.server.tokens import Caller, Tokens

if TYPE_CHECKING:
    from amgs_app.engine import Options


def speak(options: Options) -> int:
    """Answer a client on standard input until it leaves, with the store that the options name; gives the exit code.

    Raises StoreError, before the client is answered, for a store that cannot be opened.
    """
    namespaces = Namespaces(options)
    try:
        space = namespaces.get(DEFAULT)
        _ = space.memory
        asked = Asked(Service(namespaces, Tokens()), Caller("mcp", (DEFAULT,), "write"), space)

        async def who_asks(headers: Headers) -> Asked:
            del headers
            return asked

        asyncio.run(make_server(Tools(who_asks)).run_stdio_async())
        return 0
    finally:
        namespaces.close()


def relay(address: str, namespace: str = "", token: str = "") -> int:
    """Hand every question of the client on standard input to a served memory, and its answers back.

    Raises UnreachableError, before the client is answered, where nobody answers at the address.
    """
    try:
        asyncio.run(_relay(address.rstrip("/") + "/mcp", token, namespace))
    except* (httpx2.HTTPError, MCPError) as group:
        raise UnreachableError(
            f"No memory is served at {address}, or it refuses: {_first(group)}.",
            way_out="Start one with `amgs serve`, and give its address and a token that it knows.",
        ) from group
    return 0


async def _relay(address: str, token: str, namespace: str) -> None:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    headers |= {"AMGS-Namespace": namespace} if namespace else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=120, trust_env=False) as http,
        Client(streamable_http_client(address, http_client=http)) as served,
    ):
        await served.list_tools()

        async def list_tools(context: Any, given: Any) -> Any:
            del context
            return await served.list_tools(cursor=None if given is None else given.cursor)

        async def call_tool(context: Any, given: Any) -> Any:
            del context
            return await served.call_tool(given.name, given.arguments)

        near: Server[Any] = Server(
            "amgs", instructions=served.instructions, on_list_tools=list_tools, on_call_tool=call_tool
        )
        async with stdio_server() as (incoming, outgoing):
            await near.run(incoming, outgoing, near.create_initialization_options())


def _first(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__
