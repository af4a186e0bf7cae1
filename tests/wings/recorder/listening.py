"""`amgs record` in a process of its own, as whoever watches a program has it."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def listening(*words: str) -> Iterator[str]:
    """The address of a recorder that listens; it is stopped on leaving, without an error."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "amgs_tui", "record", "--port", str(port), *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as running:
        try:
            for _ in range(600):
                try:
                    socket.create_connection(("127.0.0.1", port), timeout=5).close()
                    break
                except OSError:
                    assert running.poll() is None
                    time.sleep(0.1)
            yield f"http://127.0.0.1:{port}"
        finally:
            running.send_signal(signal.SIGINT)
            _, err = running.communicate(timeout=60)
    assert running.returncode == 0 and "Traceback" not in err, err
