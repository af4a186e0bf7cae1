"""A server in a process of its own, as `amgs serve` starts it."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import httpx2

_ADDRESS = re.compile(r"http://\S+?:\d+")
_UNASKED = {"AMGS_MEMORY__CONSOLIDATION__AUTOMATIC_SERVED": "false"}
"""It does what it is asked and nothing beside, which would be measured too."""
_PATIENCE = 120.0
"""Seconds until a server must answer; a large store opens in a few."""


@dataclass(frozen=True, eq=False)
class ServerProcess:
    """A running server. Use it as a context manager: it is ended on leaving, whatever happened."""

    address: str
    process: subprocess.Popen[str]

    @classmethod
    def start(cls, words: Sequence[str], log: Path, module: str = "amgs_tui") -> Self:
        """Start `python -m MODULE WORDS` and wait until it answers at the address that it tells.

        words: of `amgs`, global options before the command, and after `serve` those that follow it. Raises RuntimeError
        with the log's end for one that does not come up.
        """
        with log.open("w", encoding="utf-8") as out:
            process = subprocess.Popen(
                [sys.executable, "-m", module, *words], stderr=out, stdout=out, text=True, env=os.environ | _UNASKED
            )
        ends = time.monotonic() + _PATIENCE
        while time.monotonic() < ends and process.poll() is None:
            found = _ADDRESS.search(log.read_text(encoding="utf-8"))
            if found and _answers(found[0]):
                return cls(found[0], process)
            time.sleep(0.02)
        process.kill()
        raise RuntimeError(f"The server did not come up: {log.read_text(encoding='utf-8')[-2000:]}")

    def client(self, token: str = "", timeout: float = 60.0) -> httpx2.Client:
        """A plain HTTP client."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=self.address, headers=headers, timeout=timeout, trust_env=False)

    def kill(self) -> None:
        """End it as a power cut would: no handler runs."""
        self.process.kill()
        self.process.wait(timeout=30)

    def stop(self) -> None:
        """Ask it to end, and wait."""
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def _answers(address: str) -> bool:
    try:
        return httpx2.get(f"{address}/healthz", timeout=5, trust_env=False).status_code == 200
    except httpx2.HTTPError:
        return False
