"""A wing can be taken out: without its folders and its line in the registry, the rest of a copy of the checkout stands.

`make removal` looks at types and at more tests as well.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from amgs.wing_registry import WINGS
from scripts.wing_removal import ROOT, checks, copy_checkout, make_store, surroundings, take_out


@pytest.mark.slow
@pytest.mark.timeout(900)  # on a machine that does much else
@pytest.mark.parametrize("name", WINGS)
def test_a_wing_can_be_taken_out(name: str, tmp_path: Path) -> None:
    if subprocess.run(["git", "rev-parse"], cwd=ROOT, capture_output=True, check=False).returncode:
        pytest.skip("not a checkout")
    root, store = tmp_path / "checkout", tmp_path / "with.duckdb"
    make_store(name, store)
    copy_checkout(root)
    take_out(root, name)
    for what, command in checks(store, quick=True):
        done = subprocess.run(command, cwd=root, env=surroundings(root), capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"without {name}, {what}: {done.stdout[-3000:]}{done.stderr[-3000:]}"
