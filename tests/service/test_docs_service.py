"""docs/service.md says what the service does: its examples run in their order, its limits are the limits."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from amgs_app.server.limits import A_SECOND, LARGEST, READ_SECONDS
from amgs_app.server.routes import NAMED

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8420"


def examples(language: str) -> str:
    return "\n".join(re.findall(rf"```{language}\n(.*?)```", TEXT, flags=re.S))


def run(code: str) -> None:
    names: dict[str, Any] = {}
    exec(code, names)
    names["client"].close()


def test_the_python_runs_as_it_stands(
    address: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("amgs.client.memory_client.MemoryClient.__init__.__defaults__", (address,))
    monkeypatch.setattr("amgs.client.memory_client.AsyncMemoryClient.__init__.__defaults__", (address,))
    run(examples("python"))
    told = capsys.readouterr().out
    assert "drops packets when it rains" in told
    assert "by words now, by meaning after consolidation" in told
    assert "{'consolidated': 2}" in told
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (three_lines,) = re.findall(r"```python\n(from amgs import MemoryClient.*?)```", readme, re.S)
    run(three_lines)
    assert "drops packets" in capsys.readouterr().out


@pytest.mark.skipif(not (shutil.which("curl") and shutil.which("jq")), reason="needs curl and jq")
def test_the_requests_run_as_they_stand(address: str, tmp_path: Path) -> None:
    quiet = 'curl() { command curl -sS --noproxy "*" --fail-with-body "$@" || [[ $? = 28 || "$*" = */calibrate* ]]; }\n'
    quiet += "set -eux -o pipefail\n"
    script = quiet + examples("sh").replace(ADDRESS, address)
    done = subprocess.run(
        ["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stdout[-1500:] + done.stderr[-1500:]
    assert '"undone": true' in done.stdout
    assert "20 outcomes are needed" in done.stdout
    assert "event: changed" in done.stdout
    assert "amgs_requests_total" in done.stdout


def test_every_request_of_the_specification_has_an_example_and_every_limit_is_told() -> None:
    asked = examples("sh")
    for method, path, *_ in NAMED:
        where = re.sub(r"\\\{\w+\\\}", r"[\\w$]+", re.escape(path))
        assert re.search(rf"{where}\b", asked), f"{method} {path}"
    told = " ".join(TEXT.split())
    assert f"{LARGEST // 2**20} MiB" in told
    assert f"{A_SECOND:g} requests a second" in told
    assert READ_SECONDS == 60 and "longer than a minute" in told
