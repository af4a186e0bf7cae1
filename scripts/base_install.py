"""Install the wheel alone into a fresh environment, and say how large that is and how long it takes: `make base`."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

LIMIT_MB = 300
NAMES = {"amgs", "amgs_app", "amgs_focus", "amgs_tui"}


def main() -> int:
    """Return 1 where the install is larger than the limit, or the wheel brings other packages than its four."""
    root = Path(__file__).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "-q")
        subprocess.run([*pip, "wheel", "--no-deps", "-w", folder, str(root)], check=True)
        wheel = next(place.glob("*.whl"))
        venv.create(place / "env", with_pip=False)
        python = place / "env" / "bin" / "python"
        began = time.monotonic()
        constraints = str(root / "constraints.txt")
        subprocess.run([*pip, "--python", str(python), "install", "-c", constraints, str(wheel)], check=True)
        seconds = time.monotonic() - began
        packages = next((place / "env" / "lib").glob("python*/site-packages"))
        megabytes = sum(file.lstat().st_size for file in packages.rglob("*")) // 1_000_000
        names = {path.name for path in packages.iterdir() if path.name.startswith("amgs")}
        names = {name for name in names if "." not in name}
        size = wheel.stat().st_size // 1_000_000
    print(f"wheel {size} MB, {' '.join(sorted(names))}; base install {megabytes} MB, {seconds:.0f} s")
    return int(megabytes > LIMIT_MB or names != NAMES)


if __name__ == "__main__":
    raise SystemExit(main())
