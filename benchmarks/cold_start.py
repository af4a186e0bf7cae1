"""What one search on the command line takes in a fresh process, its imports included."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from amgs.errors import AmgsError

_RUN = """
import resource, sys
from amgs_tui.__main__ import run
code = run(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_SELF)
sys.stdout.flush()
sys.stderr.write(f"\\n{used.ru_utime + used.ru_stime}")
sys.exit(code)
"""


def started_before() -> dict[str, str]:
    """This process's variables, for a program that keeps its compiled modules from one start to the next, as Python
    does unless told otherwise.
    """
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def cold_start(store: Path, arguments: Sequence[str], times: int) -> tuple[float, float]:
    """Seconds of processor and of wall time of `amgs --store STORE ARGUMENTS`: the least of so many runs.

    Raises AmgsError when the command fails.
    """
    found = []
    for _ in range(times):
        start = perf_counter()
        done = subprocess.run(
            [sys.executable, "-c", _RUN, "--store", str(store), *arguments],
            capture_output=True,
            text=True,
            check=False,
            env=started_before(),
        )
        wall = perf_counter() - start
        *said, used = done.stderr.strip().splitlines() or [""]
        if done.returncode:
            raise AmgsError(f"The measured command failed: {' '.join(said)[-300:] or used}")
        found.append((float(used), wall))
    return min(cpu for cpu, _ in found), min(wall for _, wall in found)
