"""docs/scale.md and docs/compose.yaml: a deployment in plain commands runs, and the one in containers could."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from amgs_app import cli
from tests.engine.memory_world import write_notes
from tests.postgres_server import namespace
from tests.service.serving import client

DOCS = Path(__file__).parents[2] / "docs"
ADDRESS = "postgresql://ann@db.example.org/notes?namespace=live"
PATIENCE = 60.0


def test_two_servers_and_a_worker_run_as_they_stand(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("lance")
    (block,) = re.findall(r"```bash\n(.*?)```", (DOCS / "scale.md").read_text(encoding="utf-8"), flags=re.S)
    write_notes(tmp_path / "notes")
    ports = {"8420": "", "8421": ""}
    monkeypatch.chdir(tmp_path)
    data = {"AMGS_DATA": str(tmp_path / "data"), "HOME": str(tmp_path)}
    environment = {**os.environ, **data, "PYTHONPATH": os.pathsep.join(sys.path)}
    with ExitStack() as ending:

        def run(line: str) -> list[str]:
            for name, found in ports.items():
                line = line.replace(f"127.0.0.1:{name}", f"127.0.0.1:{found}").replace(
                    f"--port {name}", "--port 0"
                )
            line = line.replace(ADDRESS, place).replace("~/indexes", str(tmp_path / "indexes"))
            own = [] if "--connect" in line else ["--model", "tiny"]  # which the server says
            return [sys.executable, "-m", "amgs_tui", *own, *shlex.split(line)[1:]]

        def asked(line: str) -> str:
            done = subprocess.run(run(line), env=environment, capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            return done.stdout

        place = namespace(postgres)
        said: list[str] = []
        for number, line in enumerate(block.strip().splitlines()):
            if not line.endswith(" &"):
                said.append(asked(line))
                continue
            out = tmp_path / f"{number}.log"
            with out.open("wb") as log:
                process = subprocess.Popen(run(line[:-2]), env=environment, stdout=log, stderr=log)
            ending.callback(process.wait)
            ending.callback(process.kill)
            if "serve" in line:
                at = until(partial(listening_at, out), process)
                ports[line.split()[-2]] = at[1]
        assert "QX-7741-B" in said[1]  # taken in by the one, found by the other
        server = ending.enter_context(client(f"http://127.0.0.1:{ports['8421']}"))

        def settled() -> dict[str, Any] | None:
            """What the second server tells once every task is done: the index may be made before the last one is."""
            told: dict[str, Any] = server.get("/v1/lifecycle/status").raise_for_status().json()["store"]
            beside = told["topology"]
            index = beside["index"]
            done = "raw" not in told["blocks"] and index["version"] and index["built_at"] == index["store_at"]
            return beside if done and beside["waiting"] == beside["running"] == 0 else None

        beside = until(settled, process)  # the last one begun is the worker
        assert beside["namespace"]["name"] == place.rpartition("=")[2]
        assert len(beside["workers"]) == 1 and beside["failed"] == 0


def listening_at(log: Path) -> re.Match[str] | None:
    """Where a server says that it answers."""
    return re.search(r"http://127\.0\.0\.1:(\d+)", log.read_text(encoding="utf-8"))


def until(look: Callable[[], Any], process: subprocess.Popen[bytes]) -> Any:
    """What a look finds, once it finds something."""
    ends = time.monotonic() + PATIENCE
    while not (found := look()):
        assert process.poll() is None, "it ended"
        assert time.monotonic() < ends
        time.sleep(0.1)
    return found


def taken(words: Sequence[str]) -> str:
    """The command that a line names, once the real command line has taken every word and value of it."""
    command: Any = typer.main.get_command(cli.build())
    context = command.make_context("amgs", list(words))
    while hasattr(command, "resolve_command"):
        name, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        context = command.make_context(name, rest, parent=context)
    assert not context.args
    return str(command.name)


def test_the_containers_could_run() -> None:
    text = (DOCS / "compose.yaml").read_text(encoding="utf-8")
    compose = yaml.safe_load(text)
    services = compose["services"]
    begun: list[list[str]] = []
    for service in services.values():
        for name in service.get("depends_on", ()):
            assert name in services
        for volume in service.get("volumes", ()):
            assert volume.partition(":")[0] in compose["volumes"]
        for name in service.get("secrets", ()):
            assert name in compose["secrets"]
        if service.get("command", [""])[0] == "amgs":
            begun.append(service["command"])
    assert len(begun) == 3

    every = [
        shlex.split(line.strip("# ")) for line in text.splitlines() if line.lstrip("# ").startswith("amgs ")
    ]
    assert every
    assert [taken(command[1:]) for command in (*begun, *every)] == ["serve", "serve", "run", "new"]
    with pytest.raises(typer.TyperException):
        taken(["serve", "--ports", "8420"])
    read = {
        "PGPASSWORD",
        "AWS_ACCESS_KEY_ID",
        "AWS_SECRET_ACCESS_KEY",
        "AWS_ENDPOINT",
        "AWS_REGION",
        "AWS_ALLOW_HTTP",
    }
    assert set(compose["x-amgs"]["environment"]) == read
