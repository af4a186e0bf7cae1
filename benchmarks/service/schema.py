"""The OpenAPI document as an attacker reads it: schemathesis asks what it allows, and what it does not."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SchemaReport:
    """What schemathesis found. cases: requests it made. server_errors: operations that answered with a fault."""

    cases: int
    server_errors: int
    told: str


def probe(
    address: str, token: str, examples: int, seed: int, work: Path, *, seconds: int = 600
) -> SchemaReport:
    """Ask about so many examples of all operations together, within so many seconds, checked for server errors.

    token: of a caller who may read and write; what may take the machine for minutes it may not start.
    """
    each = max(1, examples // max(1, _operations(address)))
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            "run",
            f"{address}/v1/openapi.json",
            *("--checks", "not_a_server_error", "--phases", "examples,fuzzing,stateful"),
            *("--max-examples", str(each), "--seed", str(seed), "--max-time", str(seconds)),
            *("--header", f"Authorization:Bearer {token}", "--continue-on-failure"),
            *("--exclude-path-regex", "^/v1/events$", "--request-timeout", "30", "--no-color"),
        ],
        capture_output=True,
        text=True,
        timeout=seconds + 300,
        cwd=work,
        check=False,
    )
    told = done.stdout + done.stderr
    cases = re.search(r"([\d,]+) generated", told)
    if cases is None:
        raise RuntimeError(f"schemathesis did not run: {told[-2000:]}")
    return SchemaReport(int(cases[1].replace(",", "")), len(re.findall("Server error", told)), told[-4000:])


def _operations(address: str) -> int:
    import httpx2

    document = httpx2.get(f"{address}/v1/openapi.json", timeout=30, trust_env=False).json()
    return sum(len(methods) for methods in document["paths"].values())
