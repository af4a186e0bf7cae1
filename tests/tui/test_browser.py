"""The page that shows the workstation in a browser: only this machine's own pages, and nothing fetched."""

from __future__ import annotations

import asyncio
import shlex
import sys
from pathlib import Path

import pytest
from aiohttp import WSMsgType
from aiohttp.test_utils import TestClient, TestServer

from amgs_tui.browser import LOOPBACK, LoopbackServer


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


WORKSTATION = """
import pathlib, sys
sys.stdout.buffer.write(b"__GANGLION__\\nD" + (5).to_bytes(4, "big") + b"ready")
sys.stdout.buffer.flush()
said = b""
while b"quit" not in said:
    said += sys.stdin.buffer.read1()
pathlib.Path(sys.argv[1]).write_text("closed")
"""
"""A program that speaks as a workstation does, and closes its store when it is told to quit."""


async def test_what_runs_behind_an_open_page_has_ended_when_the_server_has(tmp_path: Path) -> None:
    (tmp_path / "workstation.py").write_text(WORKSTATION)
    command = shlex.join([sys.executable, str(tmp_path / "workstation.py"), str(tmp_path / "store")])
    server = LoopbackServer(command, 8000)
    async with TestClient(TestServer(await server._make_app(), host=LOOPBACK)) as client:
        server.port = client.port or 0
        page = await client.ws_connect("/ws")
        assert await page.receive_bytes() == b"ready"
        closing = asyncio.create_task(client.server.close())
        assert (await page.receive()).type is WSMsgType.CLOSE
        await closing
    assert (tmp_path / "store").read_text() == "closed"
