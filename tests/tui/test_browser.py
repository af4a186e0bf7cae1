"""The page that shows the workstation in a browser: only this machine's own pages, and nothing fetched."""

from __future__ import annotations

import socket

import pytest
from aiohttp.test_utils import TestClient, TestServer

from amgs.errors import UsageError
from amgs_tui.browser import LOOPBACK, LoopbackServer, serve


async def ask(**headers: str) -> tuple[int, str]:
    server = LoopbackServer("true", 8000)
    async with TestClient(TestServer(await server._make_app(), host=LOOPBACK)) as client:
        server.port = client.port or 0
        answer = await client.get("/", headers=headers)
        return answer.status, await answer.text()


async def test_the_page_fetches_nothing_from_elsewhere() -> None:
    status, text = await ask()
    assert status == 200 and "textual" in text and "https://" not in text


@pytest.mark.parametrize("headers", [{"Origin": "http://elsewhere.example"}, {"Host": "elsewhere.example"}])
async def test_another_sites_page_is_refused(headers: dict[str, str]) -> None:
    status, text = await ask(**headers)
    assert status == 403 and "own pages" in text


def test_a_port_in_use_is_named() -> None:
    with socket.socket() as taken:
        taken.bind((LOOPBACK, 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=str(port)):
            serve([], port)
