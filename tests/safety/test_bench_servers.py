"""`scaleout` on real servers: one that is killed loses nothing, and a tenant sees nothing of another."""

from __future__ import annotations

from pathlib import Path

from benchmarks.scaleout.servers import measure_servers, measure_tenants
from benchmarks.scaleout.setup import ScaleoutEffort, ScaleoutSetup
from tests.benchmarks.rigs import memory_rig


def test_a_killed_server_takes_nothing_along_and_the_other_goes_on(postgres: str, tmp_path: Path) -> None:
    found = measure_servers(memory_rig(), ScaleoutSetup(postgres, tmp_path, effort=ScaleoutEffort(kills=1)))
    assert found.metrics["server_acknowledged"] >= 2
    for name, (comparator, goal) in found.goals.items():
        assert (comparator == "<=" and found.metrics[name] <= goal) or found.metrics[name] >= goal > 0, name


def test_another_tenant_sees_nothing_and_the_owner_does(postgres: str, tmp_path: Path) -> None:
    found = measure_tenants(memory_rig(), ScaleoutSetup(postgres, tmp_path, effort=ScaleoutEffort(probes=60)))
    assert found.metrics["tenant_seen"] == 0 < found.metrics["tenant_seen_control"]
