"""What must never work: a caller who sees another namespace, and a request that ends in a server's error.

The OpenAPI document as an attacker reads it: schemathesis asks what it allows, and what it does not.
"""

from __future__ import annotations

import hashlib
import random
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

import httpx2

SECRET: Final = "the harbour master keeps the key under the blue stone"


def escapes(http: httpx2.Client, hidden: str, block: str, files: Path, count: int, seed: int) -> list[str]:
    """Requests by a caller of one namespace that gave something away of another, or of the machine.

    hidden: the other namespace. block: an id that only it holds. files: a file of the machine that holds the secret.
    """
    chance = random.Random(seed)
    found = []
    for _, (method, path, headers, body) in zip(range(count), _attempts(chance, hidden, block, files), strict=False):
        try:
            answer = http.request(method, path, headers=headers, json=body)
        except (httpx2.HTTPError, UnicodeError, ValueError):
            continue  # the client itself refuses to send it
        if SECRET in answer.text or answer.status_code >= 500:
            found.append(f"{method} {path} {headers}: {answer.status_code}")
    return found


def token_file(keys: Mapping[str, str]) -> str:
    """A file of tokens. keys: by namespace the token that may read and write it."""
    return "".join(
        f'[{name}]\nsha256 = "{hashlib.sha256(key.encode()).hexdigest()}"\nnamespaces = ["{name}"]\nmay = "write"\n'
        for name, key in keys.items()
    )


Attempt = tuple[str, str, dict[str, str], dict[str, str] | None]


def _attempts(chance: random.Random, hidden: str, block: str, files: Path) -> Iterator[Attempt]:
    """Ways to name what is not one's own: traversal, encodings, look-alikes, swapped headers, paths of the machine."""
    names = [
        hidden,
        hidden.upper(),
        f"../{hidden}",
        f"./{hidden}",
        f"{hidden}/",
        f"{hidden}.duckdb",
        f"{hidden}%00",
        quote(f"../{hidden}", safe=""),
        quote(quote(f"../{hidden}", safe=""), safe=""),
        f"own/../{hidden}",
        f"own\\..\\{hidden}",
        f" {hidden}",
        f"{hidden} ",
        f"{hidden},own",
        f"own,{hidden}",
        "".join(chr(ord(c) + 0xFEE0) for c in hidden),
        hidden.replace("o", "о"),
        hidden + "\u200b",
        "*",
        "",
        "/",
        "..",
    ]
    paths = [str(files), f"file://{files}", f"../{files.name}", f"own.files/../../{files.name}"]
    while True:
        name = chance.choice(names)
        whole = chance.choice([block, block[:12], block[:4], block.upper(), quote(block[:8] + "/../" + block)])
        yield chance.choice(
            [
                ("POST", "/v1/memory/search", {"AMGS-Namespace": _sendable(name)}, {"query": "harbour key"}),
                ("GET", f"/v1/memory/{whole}", {"AMGS-Namespace": _sendable(name)}, None),
                ("GET", f"/v1/memory/{whole}", {}, None),
                ("GET", f"/v1/memory/{quote(name, safe='')}", {}, None),
                ("GET", f"/v1/frame/{quote(name, safe='')}/cached", {}, None),
                ("POST", "/v1/operations/block_show", {}, {"block": whole}),
                ("POST", "/v1/operations/block_show", {}, {"block": chance.choice(paths)}),
                ("POST", "/v1/operations/source_show", {}, {"source": chance.choice(paths)}),
                ("POST", "/v1/operations/source_update", {}, {"source": "x", "file": chance.choice(paths)}),
                ("POST", "/v1/operations/ingest", {}, {"batch": str(files.parent)}),
                ("POST", "/v1/memory/ingest", {}, {"content": chance.choice(paths)}),
                ("POST", "/v1/operations/import", {}, {"path": chance.choice(paths)}),
                ("POST", "/v1/frame/assemble", {"AMGS-Namespace": _sendable(name)}, {"name": "INBOX"}),
                ("GET", f"/v1/events?after=0&namespace={quote(name, safe='')}", {"Authorization": "Bearer x"}, None),
                ("POST", "/v1/operations/pack_list", {"AMGS-Namespace": _sendable(name)}, {}),
                ("POST", "/v1/operations/pack_list", {"AMGS-Namespace": _sendable(name)}, {"pack": whole}),
                ("GET", "/v1/journal?limit=1000", {"AMGS-Namespace": _sendable(name)}, None),
                ("GET", "/v1/lifecycle/status", {"AMGS-Namespace": _sendable(name)}, None),
                ("POST", "/v1/operations/find", {"AMGS-Namespace": _sendable(name)}, {"text": "harbour"}),
                ("POST", "/v1/plans/consolidate", {"AMGS-Namespace": _sendable(name)}, {}),
                ("GET", f"/v1/graph/neighbours/{whole}", {"AMGS-Namespace": _sendable(name)}, None),
                ("GET", f"/v1/../{quote(name, safe='')}/memory/{whole}", {}, None),
                ("GET", f"/{quote(str(files), safe='')}", {}, None),
            ]
        )


def _sendable(name: str) -> str:
    """A header's value: what is not Latin is sent as its UTF-8 bytes."""
    return name.encode().decode("latin-1").replace("\0", "")


@dataclass(frozen=True, slots=True)
class SchemaReport:
    """What schemathesis found. cases: requests it made. server_errors: operations that answered with a fault."""

    cases: int
    server_errors: int
    told: str


def probe_schema(address: str, token: str, examples: int, seed: int, work: Path, *, seconds: int = 600) -> SchemaReport:
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
