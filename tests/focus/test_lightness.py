"""The engine's values can be imported without torch, and its names without its modules."""

from __future__ import annotations

import subprocess
import sys

import pytest

import amgs_focus

HEAVY = ("torch", "transformers", "numpy")


@pytest.mark.parametrize(
    "module",
    ["amgs_focus", "amgs_focus.records", "amgs_focus.errors", "amgs_focus.settings", "amgs_focus.trace.telemetry"],
)
def test_importing_it_loads_nothing_heavy(module: str) -> None:
    program = f"import sys, {module}; print([name for name in {HEAVY} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_public_name_can_be_had_and_no_other() -> None:
    for name in amgs_focus.__all__:
        value = getattr(amgs_focus, name)
        assert getattr(value, "__name__", name) in (name, "Literal")
    with pytest.raises(AttributeError, match="nothing"):
        amgs_focus.nothing  # type: ignore[attr-defined]  # noqa: B018
    assert set(amgs_focus.__all__) <= set(dir(amgs_focus))
