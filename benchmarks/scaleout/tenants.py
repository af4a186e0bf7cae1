"""Two callers of one service on one database: what either can see of the other's namespace."""

from __future__ import annotations

from contextlib import ExitStack

from benchmarks.bench_results import BenchTable
from benchmarks.rig import MemoryRig
from benchmarks.scaleout.setup import ScaleoutSetup
from benchmarks.service import hostile
from benchmarks.service.process import ServerProcess
from benchmarks.subject import SubjectResult

OWN, HIDDEN = "bench_tenant_own", "bench_tenant_hidden"
_KEYS = {OWN: "amgs_own", HIDDEN: "amgs_hidden"}
"""The tokens of two callers, each of whom may read and write the namespace of that name."""


def measure_tenants(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult:
    """Requests by the caller of one namespace that look for a secret of another: by its name in all disguises, by ids,
    searches, frames, packs, the journal, events, files. The control: the same requests by the secret's owner.
    """
    count = setup.effort.probes
    secret = setup.work / "secret.md"
    secret.write_text(hostile.SECRET, encoding="utf-8")
    tokens = setup.work / "tenants.toml"
    tokens.write_text(hostile.token_file(_KEYS), encoding="utf-8")
    with ExitStack() as stack:
        for name in _KEYS:
            stack.enter_context(setup.namespace(name.removeprefix("bench_")))
        words = ["--model", "tiny", "serve", "--port", "0", "--root", setup.server, "--tokens", str(tokens)]
        server = stack.enter_context(ServerProcess.start(words, setup.work / "tenants.log"))
        with server.client(_KEYS[HIDDEN]) as owner, server.client(_KEYS[OWN]) as other:
            block = owner.post("/v1/memory/ingest", json={"content": hostile.SECRET}).json()["added"][0]
            other.post("/v1/memory/ingest", json={"content": "The lighthouse is open on Sundays."})
            rig.progress(0, 2, "looking into another namespace")
            seen = hostile.escapes(other, HIDDEN, block, secret, count, rig.seed)
            rig.progress(1, 2, "the same by its owner")
            control = hostile.escapes(owner, HIDDEN, block, secret, count, rig.seed)
    metrics = {
        "tenant_probes": float(count),
        "tenant_seen": float(len(seen)),
        "tenant_seen_control": float(len(control)),
    }
    rows = (
        ("another's token", count, len(seen), "; ".join(seen[:3])),
        ("control: the owner's token", count, len(control), ""),
    )
    table = BenchTable("Looks into another namespace", ("who", "requests", "saw the secret", "which"), rows)
    return SubjectResult(metrics, {"tenant_seen": ("<=", 0.0), "tenant_seen_control": (">=", 1.0)}, (table,))
