"""`python -m benchmarks NAME --data DIR --json`: a benchmark on the models and settings of a session.

The options of every command stand before the name: `python -m benchmarks --model tiny locomo --data DIR`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from amgs_app import cli
from benchmarks.commands import registry


def run(arguments: Sequence[str]) -> int:
    """Carry out a command line and give its exit code."""
    return cli.run(arguments, registry=registry(), program="python -m benchmarks")


if __name__ == "__main__":
    sys.exit(run(sys.argv[1:]))
