"""What a person is told who starts a server, opens its address in a browser, or attaches a workstation to it."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from amgs_app import __version__
from tests.gateway.recorder import gateway, recorder
from tests.service.serving import client, served
from tests.service.test_attached_screen import attached, text_of, until

SECRET = "The key lies under the third stone."


@pytest.mark.parametrize(
    ("command", "lines"),
    [
        (("serve",), ["Watch with: amgs --connect {}", "Every request: {}/v1/openapi.json"]),
        (
            ("gateway", "--upstream", "http://127.0.0.1:9"),
            [
                "What agents ask goes on to http://127.0.0.1:9.",
                "Set OPENAI_BASE_URL={}/v1 in your agent,",
                "and watch with: amgs --connect {}",
            ],
        ),
    ],
)
def test_a_server_says_what_it_serves_and_what_to_paste_before_its_log(
    command: tuple[str, ...], lines: list[str], tmp_path: Path
) -> None:
    store = tmp_path / "boats.duckdb"
    words = ["--store", str(store), "--model", "tiny", *command, "--port", "0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "amgs_tui", *words], stderr=subprocess.PIPE, text=True, env=dict(os.environ)
    )
    assert process.stderr is not None
    try:
        first = process.stderr.readline()
        address = first.split()[2].rstrip(";")
        assert first == f"Serving on {address}; Ctrl-C ends it.\n"
        with client(address) as http:
            assert http.get("/healthz").status_code == 200
        told = [process.stderr.readline().rstrip() for _ in range(len(lines) + 2)]
    finally:
        process.kill()
        process.wait(timeout=120)
        process.stderr.close()
    assert told[:-1] == [f"Store: {store}", *(line.format(address) for line in lines)]
    assert told[-1].startswith('{"id"')


def test_the_address_in_a_browser_is_a_page_and_json_for_who_asks_for_that(tmp_path: Path) -> None:
    with served(tmp_path / "boats.duckdb") as address, client(address) as http:
        http.post("/v1/memory/ingest", json=SECRET)
        page = http.get("/", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert f"amgs --connect {address}" in page.text
        assert 'href="/v1/openapi.json"' in page.text
        assert "boats.duckdb" in page.text
        assert __version__ in page.text
        assert SECRET not in page.text
        told = http.get("/", headers={"accept": "application/json"}).json()
        assert (told["kind"], told["openapi"], told["version"]) == ("service", "/v1/openapi.json", __version__)
        forged = http.get("/", headers={"host": "x<script>"}).text
        assert "<script>" not in forged


async def test_a_workstation_attached_to_a_gateway_opens_on_the_latest_exchange(tmp_path: Path) -> None:
    with recorder() as upstream:
        upstream.says("It draws twelve ampere.")
        with gateway(upstream.address, store=tmp_path / "a.duckdb") as address, client(address) as http:
            said = [{"role": "user", "content": "What does the motor of the dome draw?"}]
            asked = {"model": "m", "messages": said}
            answer = await asyncio.to_thread(http.post, "/v1/chat/completions", json=asked)
            assert answer.status_code == 200
            async with attached(address) as (app, pilot):
                await until(pilot, lambda: app.main.body.main == "conversation")
                await until(pilot, lambda: "What does the motor of the dome draw?" in text_of(app))
