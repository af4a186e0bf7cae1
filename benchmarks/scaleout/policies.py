"""The subject `policies`: what row-level security costs a search, a SESSION frame and a note."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING

from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from benchmarks.bench_results import BenchTable, MemoryRig, SubjectResult
from benchmarks.large_corpus import NOW, Books
from benchmarks.large_store import fill, sample_vectors
from benchmarks.measures import quantile
from benchmarks.scaleout.setup import SEED, ScaleoutSetup
from benchmarks.stores import open_memory

if TYPE_CHECKING:
    from benchmarks.scaleout.trial_role import TrialRole

WITHOUT, WITH, AGAIN = "without", "with", "again"
"""Three equal namespaces: one with policies, and two without, whose ratio is what chance makes of equal ones."""
STORES = (WITHOUT, WITH, AGAIN)
WARM_UP = 5


def measure_policies(rig: MemoryRig, setup: ScaleoutSetup) -> SubjectResult | None:
    """Each question, frame and note is put to all three by turns, in an order that rotates, by roles that no right of a
    superuser lifts over the policies. Of each turn the ratio with policies to without, in wall time and in processor
    time of this process; of the servers' processes the ratio of the sums, where the system tells their time.
    """
    folder = setup.folder("books", "*.txt")
    if folder is None:
        return None
    from amgs.extras import explained
    from amgs.storage.access import grant

    with explained():
        from benchmarks.scaleout.trial_role import TrialRole

    books, size = Books(folder), min(setup.effort.blocks)
    vectors = sample_vectors(books, rig.embedder, setup.effort.sample, setup.work, rig.progress)
    with ExitStack() as stack:
        memories: dict[str, Memory] = {}
        roles: dict[str, TrialRole] = {}
        for store in STORES:
            place = stack.enter_context(setup.namespace(f"policies_{store}"))
            fill(place, books, size, vectors, rig.embedder, SEED, rig.progress)
            role = roles[store] = TrialRole(setup.server, f"bench_policies_{store}")
            stack.callback(role.drop)
            if store == WITH:
                grant(place, role.name)
            else:
                role.use(place)
            memories[store] = stack.enter_context(open_memory(rig, role.address(place), NOW))
        questions = books.queries(setup.effort.questions + setup.effort.frames + WARM_UP, SEED + size)
        framed = [questions.pop() for _ in range(setup.effort.frames)]
        acts: Mapping[str, tuple[Callable[[Memory, str], object], Sequence[str]]] = {
            "search": (lambda memory, text: memory.search(text), questions),
            "SESSION": (lambda memory, text: memory.assemble("SESSION", query=text), framed),
            "note": (
                _note,
                [f"Entry {n}: the tide stood at {n} inches." for n in range(setup.effort.questions)],
            ),
        }
        metrics: dict[str, float] = {}
        rows: list[tuple[str | float, ...]] = []
        for what, (act, texts) in acts.items():
            rig.progress(len(rows), len(acts), what)
            wall, cpu, server = _by_turns(roles, memories, act, texts)
            told = [1000 * statistics.median(wall[WITHOUT]), 1000 * server[WITHOUT] / len(texts)]
            for other in (WITH, AGAIN):
                own = [a / b for a, b in zip(wall[other], wall[WITHOUT], strict=True)]
                mine = [a / b for a, b in zip(cpu[other], cpu[WITHOUT], strict=True) if b]
                theirs = server[other] / server[WITHOUT] if server[WITHOUT] else float("nan")
                told += [statistics.median(own), quantile(own, 0.25), quantile(own, 0.75)]
                told += [statistics.median(mine) if mine else float("nan"), theirs]
                name = f"policies_{what.lower()}_{'ratio' if other == WITH else 'control'}"
                metrics |= {name: told[-5], f"{name}_cpu": told[-2]}
                metrics |= {f"{name}_server_cpu": theirs} if server[WITHOUT] else {}
            rows.append((what, len(texts), *told, os.getloadavg()[0]))
    each = ("wall", "lower quartile", "upper quartile", "processor", "server's processor")
    columns = (
        "what",
        "turns",
        "without, ms",
        "server's processor, ms",
        *each,
        *(f"control: {name}" for name in each),
        "load average",
    )
    title = f"With policies over without, {size:,} blocks; control: without over without"
    return SubjectResult(metrics, {}, (BenchTable(title, columns, tuple(rows)),))


def _note(memory: Memory, text: str) -> object:
    return memory.ingest_many([RawBlock(text, None, {"source": "tide.md"})])


def _by_turns(
    roles: Mapping[str, TrialRole],
    memories: Mapping[str, Memory],
    act: Callable[[Memory, str], object],
    texts: Sequence[str],
) -> tuple[dict[str, list[float]], dict[str, list[float]], dict[str, float]]:
    """Seconds of each turn, those of this process's processor, and all those of the server's processes, by store."""
    for text in texts[:WARM_UP]:
        for memory in memories.values():
            act(memory, f"{text} Once more.")
    wall: dict[str, list[float]] = {store: [] for store in STORES}
    cpu: dict[str, list[float]] = {store: [] for store in STORES}
    before = {store: roles[store].seconds() for store in STORES}
    for turn, text in enumerate(texts):
        for store in (*STORES[turn % 3 :], *STORES[: turn % 3]):
            begun, used = time.perf_counter(), time.process_time()
            act(memories[store], text)
            wall[store].append(time.perf_counter() - begun)
            cpu[store].append(time.process_time() - used)
    return wall, cpu, {store: roles[store].seconds() - before[store] for store in STORES}
