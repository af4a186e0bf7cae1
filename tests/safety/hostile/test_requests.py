"""Requests drawn from the OpenAPI document, and much that it does not allow."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from tests.service.serving import client, served

_LEFT_OUT = "focus|simulate|events|metrics|verify|enhance|communities"
"""What takes long, or never ends; `service` asks it too."""


def test_requests_drawn_from_the_schema_meet_no_fault_and_get_what_it_says(tmp_path: Path) -> None:
    checks = ("not_a_server_error", "status_code_conformance", "content_type_conformance")
    with served(tmp_path / "a.duckdb") as address, client(address) as http:
        http.post("/v1/memory/ingest", json={"content": ["The mast is new.", "Anna keeps the key."]})
        document = http.get("/v1/openapi.json").json()
        told = document["paths"]["/v1/memory/search"]["post"]["responses"]["200"]["content"]
        assert told["application/json"]["schema"] == {"$ref": "#/components/schemas/SearchResult"}
        done = subprocess.run(
            [
                str(Path(sys.executable).with_name("schemathesis")),
                *("run", f"{address}/v1/openapi.json", "--phases", "fuzzing"),
                *("--checks", ",".join((*checks, "response_schema_conformance"))),
                *("--max-examples", "1", "--seed", "1", "--exclude-path-regex", _LEFT_OUT, "--no-color"),
                *("--request-timeout", "60", "--continue-on-failure", "--max-response-time", "60"),
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
