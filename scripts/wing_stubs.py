"""Writes what editors and type checkers read of the parts that wings add to a memory, from `amgs.wing_registry`.

python -m scripts.wing_stubs           writes amgs/memory/wing_parts.pyi anew
python -m scripts.wing_stubs --check   says whether it is not what the registry gives
"""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

from amgs.memory import wing_parts
from amgs.wing_registry import wings

PATH = Path(str(wing_parts.__file__)).with_suffix(".pyi")


def stub() -> str:
    """The text of the stub."""
    told = (inspect.getdoc(wing_parts) or "").partition(".")[0]
    homes = {"amgs.api.context:MemoryPart", *(wing.part for wing in wings().values())}
    imports = [f"from {home} import {kind}" for home, _, kind in (one.partition(":") for one in sorted(homes))]
    lines = [f'"""{told}.', "", "Made by `scripts/wing_stubs.py`.", '"""', "", *imports, ""]
    lines += ["class WingParts(MemoryPart):", f'    """{inspect.getdoc(wing_parts.WingParts)}"""', ""]
    for name, wing in wings().items():
        lines += ["    @property", f"    def {name}(self) -> {wing.part.partition(':')[2]}:"]
        lines.append(f'        """{wing.about}"""')
    return format_code("\n".join([*lines, ""]))


def format_code(text: str) -> str:
    """Return the text as `make format` leaves it."""
    for command in (["check", "--fix", "--quiet", "--select", "I"], ["format"]):
        text = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(PATH), "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    return text


def main(arguments: list[str]) -> int:
    """Write the stub, or with `--check` say whether it differs; 1 where it does."""
    text = stub()
    if "--check" not in arguments:
        PATH.write_text(text, encoding="utf-8")
        return 0
    differs = not PATH.exists() or PATH.read_text(encoding="utf-8") != text
    if differs:
        print(f"{PATH.name} is not what the registry gives: make docs")
    return int(differs)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
