"""A program that opens a memory, searches once, and says what memory and time that took: `python -m … PLACE`."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path


def footprint(place: str) -> dict[str, float]:
    """In a process of its own: `open_cpu_s`, seconds of its processor time until the first answer (a database's are
    not in it); `bytes`, what the process holds that no file backs, and `mapped`, what a file does.
    """
    words = [sys.executable, "-m", __spec__.name, place]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"The memory could not be opened: {done.stderr[-500:]}")
    told: dict[str, float] = json.loads(done.stdout)
    return told


def _resident() -> tuple[int, int]:
    """(anonymous, file-backed) bytes of this process in memory, as Linux counts them."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    found = {line.split(":")[0]: int(line.split()[1]) * 1024 for line in lines if line.startswith("Rss")}
    return found["RssAnon"], found["RssFile"]


def main() -> None:
    from amgs.clock import SystemClock
    from amgs.memory import Memory

    begun = time.process_time()
    with Memory.open(sys.argv[1], clock=SystemClock(), read_only=True) as memory:
        memory.search("who opened the door?")
        opened = time.process_time() - begun
        held, mapped = _resident()
    print(json.dumps({"open_cpu_s": opened, "bytes": held, "mapped": mapped}))


if __name__ == "__main__":
    main()
