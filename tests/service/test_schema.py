"""What the OpenAPI document allows, and much that it does not, is answered, and never by a fault of the server."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.service.serving import client, served

_LEFT_OUT = "focus|montecarlo|simulate|events|metrics|verify|enhance|communities"
"""What takes long, or never ends; `bench service` asks it too."""


@pytest.mark.slow
def test_a_hundred_requests_drawn_from_the_schema_meet_no_fault(tmp_path: Path) -> None:
    with served(tmp_path / "a.duckdb") as address, client(address) as http:
        http.post("/v1/memory/ingest", json={"content": ["The mast is new.", "Anna keeps the key."]})
        done = subprocess.run(
            [
                str(Path(sys.executable).with_name("schemathesis")),
                *(
                    "run",
                    f"{address}/v1/openapi.json",
                    "--checks",
                    "not_a_server_error",
                    "--phases",
                    "fuzzing",
                ),
                *("--max-examples", "1", "--seed", "1", "--exclude-path-regex", _LEFT_OUT, "--no-color"),
                *("--request-timeout", "30", "--continue-on-failure", "--max-response-time", "60"),
            ],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=240,
            check=False,
        )
        found = re.search(r"(\d+) generated", done.stdout)
        assert found is not None and int(found[1]) >= 80, done.stdout[-3000:]
        assert done.returncode == 0, done.stdout[-3000:]
        assert http.get("/healthz").status_code == 200
