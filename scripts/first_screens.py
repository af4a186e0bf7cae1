"""How long terminal programs take to their first useful screen, and what they hold when they rest there.

    python scripts/first_screens.py --rounds 5 NAME SIGN COMMAND [NAME SIGN COMMAND …]

SIGN is a pattern that only the useful screen shows; COMMAND is one argument, parted as a shell would. The programs
run by turns, in a pseudo-terminal of 120 × 40, so that whatever disturbs the machine disturbs all of them; one round
before those that count fills the caches. Printed are the median and the worst of the seconds by the clock, the median
of the processor time up to then, and the memory held after five seconds of rest, processes started included.
"""

from __future__ import annotations

import argparse
import os
import shlex
import statistics
from typing import NamedTuple

from benchmarks.terminal import Terminal

REST_SECONDS = 5.0
TIMEOUT_SECONDS = 60.0


class Start(NamedTuple):
    """One start: seconds by the clock and by the processor until the sign, and MiB held at rest."""

    wall: float
    processor: float
    resident: float


def start(command: str, sign: str) -> Start:
    """Start a program, wait for its sign, let it rest; TimeoutError when the sign does not come."""
    with Terminal((), 120, 40, program=shlex.split(command)) as terminal:
        wall = terminal.wait(sign, TIMEOUT_SECONDS)
        if wall is None:
            raise TimeoutError(f"{command}: {sign!r} was never drawn; the last was {terminal.seen[-300:]!r}")
        processor = terminal.processor()
        terminal.read(REST_SECONDS)
        return Start(wall, processor, terminal.resident())


def main() -> None:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("programs", nargs="+", metavar="NAME SIGN COMMAND")
    told = parser.parse_args()
    if len(told.programs) % 3:
        parser.error("each program needs a name, a sign and a command")
    programs = [tuple(told.programs[at : at + 3]) for at in range(0, len(told.programs), 3)]
    starts: dict[str, list[Start]] = {name: [] for name, _, _ in programs}
    for turn in range(told.rounds + 1):
        for name, sign, command in programs:
            seen = start(command, sign)
            if turn:
                starts[name].append(seen)
    print(f"rounds {told.rounds}, load of the machine at the end {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
    print("| program | seconds, median | worst | processor seconds | MiB at rest |")
    print("| --- | --- | --- | --- | --- |")
    for name, found in starts.items():
        wall, processor, resident = zip(*found, strict=True)
        print(
            f"| {name} | {statistics.median(wall):.2f} | {max(wall):.2f} | {statistics.median(processor):.2f} |"
            f" {statistics.median(resident):.0f} |"
        )


if __name__ == "__main__":
    main()
