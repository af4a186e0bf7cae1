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


def probe(address: str, examples: int, seed: int, work: Path, *, seconds: int = 900) -> SchemaReport:
    """Ask up to so many examples of all operations together, every phase, checked for server errors."""
    operations = _operations(address)
    each = max(1, examples // max(1, operations))
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            "run",
            f"{address}/v1/openapi.json",
            *("--checks", "not_a_server_error"),
            *("--max-examples", str(each), "--seed", str(seed), "--workers", "2"),
            *("--exclude-path-regex", "^/v1/events$", "--request-timeout", "30", "--no-color"),
        ],
        capture_output=True,
        text=True,
        timeout=seconds,
        cwd=work,
        check=False,
    )
    told = done.stdout + done.stderr
    cases = re.search(r"([\d,]+) generated", told)
    failures = len(re.findall(r"Server error", told))
    if cases is None:
        raise RuntimeError(f"schemathesis did not run: {told[-2000:]}")
    return SchemaReport(int(cases[1].replace(",", "")), failures, told[-4000:])


def _operations(address: str) -> int:
    import httpx2

    document = httpx2.get(f"{address}/v1/openapi.json", timeout=30, trust_env=False).json()
    return sum(len(methods) for methods in document["paths"].values())
