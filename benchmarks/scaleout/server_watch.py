"""A program that ends a PostgreSQL server when whoever began it is gone: `python server_watch.py DATA`.

It waits for the end of its standard input, which the system closes with that process, however it died; then it ends
the server of the folder, if one still runs there, and removes the folder. It needs no package.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path

PATIENCE = 10.0
"""Seconds that a server has to end by itself."""


def running(data: Path) -> int | None:
    """The process id of the server of a folder, None where none runs."""
    try:
        pid = int((data / "postmaster.pid").read_text(encoding="ascii").splitlines()[0])
        os.kill(pid, 0)
    except (OSError, ValueError, IndexError):
        return None
    return pid


def main() -> None:
    data = Path(sys.argv[1])
    sys.stdin.read()
    if (pid := running(data)) is not None:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGQUIT)  # at once: nobody will ask for what it holds
        ends = time.monotonic() + PATIENCE
        while running(data) is not None:
            if time.monotonic() > ends:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
                break
            time.sleep(0.05)
    shutil.rmtree(data.parent, ignore_errors=True)


if __name__ == "__main__":
    main()
