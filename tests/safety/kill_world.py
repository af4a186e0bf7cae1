"""Processes that are killed in the middle of a write, and a look at what they left.

`python -m tests.safety.kill_world --count 1000 [--seed 0] [--until HH:MM]` kills that many processes in all, the stages
in turn, and stops at that time of the day.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from amgs.clock import FixedClock
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.settings import PruningSettings, Settings
from amgs.types import BlockFilter

AT = datetime(2026, 3, 1, tzinfo=UTC)
_ASKED = 40
"""Blocks of a store, the latest, that must be found by their own words."""
EVERY = BlockFilter(statuses=("raw", "consolidated", "archived", "pruned"))
# Reports that are all alike are all central; here nothing is kept for that.
LOOSE = Settings(pruning=PruningSettings(centrality=1.0))

Say = Callable[[str], None]
Stage = Callable[[Memory, int, Say], None]
"""Does its work once; the number makes its texts new. It says what was acknowledged."""


def notes(round_: int, count: int = 12) -> list[RawBlock]:
    texts = [
        f"Report {round_}.{k} on kiln {k}: the fire held for {round_ % 9 + 3} hours and the glaze ran."
        for k in range(count)
    ]
    texts += [f"{text} Nobody was there." for text in texts[:4]]
    return [RawBlock(text, AT, {"source": f"{round_}-{k}.md"}) for k, text in enumerate(texts)]


def take_in(memory: Memory, round_: int, say: Say, count: int = 12) -> None:
    say("added " + " ".join(memory.ingest_many(notes(round_, count)).added))


def consolidate(memory: Memory, say: Say) -> int:
    operation = memory.apply_consolidation(memory.plan_consolidation())
    say(f"applied {operation.id}")
    return operation.id


def undo(memory: Memory, operation: int, say: Say) -> None:
    memory.undo(operation)
    say(f"undone {operation}")


def ingest_stage(memory: Memory, round_: int, say: Say) -> None:
    take_in(memory, round_, say, 60)


def consolidate_stage(memory: Memory, round_: int, say: Say) -> None:
    take_in(memory, round_, say)
    consolidate(memory, say)


def batches_stage(memory: Memory, round_: int, say: Say) -> None:
    take_in(memory, round_, say, 40)
    for _, operation in memory.consolidate_in_batches():
        say(f"applied {operation.id}")


def enhance_stage(memory: Memory, round_: int, say: Say) -> None:
    consolidate_stage(memory, round_, say)
    life = memory.lifecycle
    plan = life.plan_enhancement(kinds=["duplicate", "merge", "overlap", "split"], limit=6)
    operation = life.apply_enhancement(plan)
    say(f"applied {operation.id}")
    if round_ % 2:
        undo(memory, operation.id, say)


def review_stage(memory: Memory, round_: int, say: Say) -> None:
    consolidate_stage(memory, round_, say)
    life = memory.lifecycle
    say(f"applied {life.apply_review(life.plan_review()).id}")
    for item in life.reviews(limit=2):
        decide = life.accept if round_ % 2 else life.reject
        say(f"applied {decide(item.review.id).id}")


def prune_stage(memory: Memory, round_: int, say: Say) -> None:
    consolidate_stage(memory, round_, say)
    memory.clock = FixedClock(AT + timedelta(days=900 * (round_ % 1000 + 1)))
    soft = memory.lifecycle.apply_pruning(memory.lifecycle.plan_pruning(limit=8))
    say(f"applied {soft.operation.id}")
    if round_ % 2:
        undo(memory, soft.operation.id, say)


def hard_prune_stage(memory: Memory, round_: int, say: Say) -> None:
    prune_stage(memory, round_ * 2, say)
    hard = memory.lifecycle.apply_pruning(memory.lifecycle.plan_pruning(hard=True, limit=4))
    say(f"applied {hard.operation.id}")
    undo(memory, hard.operation.id, say)


def undo_stage(memory: Memory, round_: int, say: Say) -> None:
    take_in(memory, round_, say)
    for _ in range(3):
        undo(memory, consolidate(memory, say), say)


def use_stage(memory: Memory, round_: int, say: Say) -> None:
    if round_ % 5 == 0:
        consolidate_stage(memory, round_, say)
    frame = memory.assemble("SESSION", query=f"kiln {round_ % 12}")
    for chosen in frame.selected[:3]:
        memory.feedback(chosen.block.id, useful=bool(round_ % 2))
    say(f"assembled {frame.id}")
    some = memory.blocks(BlockFilter(), limit=1)[0].id
    say(f"edited {memory.set_metadata(some, confidence=(round_ % 9 + 1) / 10).id}")


def feedback_stage(memory: Memory, round_: int, say: Say) -> None:
    """Frames and verdicts, one after the other."""
    if round_ % 5 == 0:
        consolidate_stage(memory, round_, say)
    frame = memory.assemble("ATTENTION", query=f"kiln {round_ % 12}")
    say(f"assembled {frame.id}")
    for chosen in frame.selected[:5]:
        outcome = memory.feedback(chosen.block.id, useful=bool(round_ % 2), assembly_id=frame.id)
        say(f"judged {outcome.prediction_id}")


def close_stage(memory: Memory, round_: int, say: Say) -> None:
    """A store of its own is filled and closed, again and again: the indexes are sealed, the file is written anew."""
    path = Path(memory.path).with_name("closed.duckdb")
    with Memory.open(path, clock=FixedClock(AT), settings=LOOSE) as other:
        take_in(other, round_, lambda told: say(told.replace("added", "closed", 1)))
        if round_ % 2:
            other.consolidate()
        other.search("kiln")


def export_stage(memory: Memory, round_: int, say: Say) -> None:
    take_in(memory, round_, say, 40)
    target = Path(memory.path).with_name("export.json" if round_ % 2 else "export.graphml")
    memory.exchange.export(target, "json" if round_ % 2 else "graphml")


def import_stage(memory: Memory, round_: int, say: Say) -> None:
    """Into a new store each time, which is whole or empty afterwards."""
    folder = Path(memory.path).parent
    source = folder / "source.json"
    if not source.exists():
        take_in(memory, round_, say, 60)
        consolidate(memory, say)
        memory.exchange.export(source)
    with Memory.open(folder / f"copy-{round_ % 10}-{round_}.duckdb", clock=FixedClock(AT)) as copy:
        copy.exchange.load(source)


STAGES: Mapping[str, Stage] = {
    "ingest": ingest_stage,
    "consolidate": consolidate_stage,
    "consolidate in batches": batches_stage,
    "enhance": enhance_stage,
    "review": review_stage,
    "prune": prune_stage,
    "hard prune": hard_prune_stage,
    "undo": undo_stage,
    "use": use_stage,
    "feedback": feedback_stage,
    "close": close_stage,
    "export": export_stage,
    "import": import_stage,
}


def live(path: str, stage: str, start: int) -> None:
    """Do the work of a stage until somebody ends it; in a process of its own."""
    log = os.open(f"{path}.said", os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def say(line: str) -> None:
        os.write(log, f"{line}\n".encode())

    with Memory.open(path, clock=FixedClock(AT), settings=LOOSE) as memory:
        say("ready")
        for round_ in range(start, start + 1000):
            STAGES[stage](memory, round_, say)
    say("finished")


_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["tests.safety.kill_world"])


def kill(path: Path, stage: str, start: int, after: float) -> None:
    """Let a process work for some seconds and kill it; raises when it died by itself."""
    said = Path(f"{path}.said")
    before = said.read_text().count("ready") if said.exists() else 0
    process = _CONTEXT.Process(target=live, args=(str(path), stage, start), daemon=True)
    process.start()
    while process.is_alive() and (not said.exists() or said.read_text().count("ready") == before):
        time.sleep(0.005)
    time.sleep(after)
    alive = process.is_alive()
    process.kill()
    process.join()
    process.close()
    if not alive:
        raise AssertionError(f"the worker of {stage!r} died by itself")


def faults_after(path: Path) -> list[str]:
    """What a killed process left wrong: faults of the store, and what was acknowledged and is not there."""
    lines = Path(f"{path}.said").read_text().split("\n")
    if lines[-1]:
        lines = lines[:-1]  # cut in the middle
    told = [line.split() for line in lines if line]
    added = {block for line in told if line[0] == "added" for block in line[1:]}
    applied = {int(line[1]) for line in told if line[0] == "applied"}
    # What was said last of an operation holds; while one is turning, it may stand either way.
    last = {int(line[1]): line[0] for line in told if line[0] in ("turning", "undone")}
    undone = {operation for operation, word in last.items() if word == "undone"}
    assembled = [line[1] for line in told if line[0] == "assembled"]
    found: list[str] = []
    with Memory.open(path, clock=FixedClock(AT)) as memory:
        found += [f"{fault.where}: {fault.what}" for fault in memory.verify().faults]
        # A hard pruning is undone at once: where the kill fell between, the ledger holds what is gone.
        kept = {line["id"] for line in memory._storage.deleted_blocks.lines()}
        held = {block.id for block in memory.blocks(EVERY)}
        found += [f"block {i[:12]} is lost" for i in added if i not in held and i not in kept]
        journal = {operation.id: operation for operation in memory.operations(100_000)}
        found += [f"operation {i} is lost" for i in applied - journal.keys()]
        found += [f"operation {i} is not undone" for i in undone if i in journal and not journal[i].undone]
        history = {one.id for one in memory.frames.history(limit=100_000).assemblies}
        found += [f"assembly {i} is lost" for i in assembled if i not in history]
        if held and not memory.search("kiln", filter=EVERY).hits:
            found.append("the search finds nothing")
        found += _unfound(memory)
        judged = {line[1] for line in told if line[0] == "judged"}
        known = {one.prediction_id for one in memory.outcomes(100_000) if one.actual is not None}
        found += [f"verdict {i[:12]} is lost" for i in judged - known]
    found += _closed(path.parent, {block for line in told if line[0] == "closed" for block in line[1:]})
    found += _exported(path.parent)
    found += _imported(path.parent)
    return found


def _unfound(memory: Memory) -> Iterator[str]:
    """Blocks that the store holds and the reopened keyword index does not find by their own words."""
    for block in memory.blocks(BlockFilter(statuses=("raw", "consolidated", "archived")), limit=_ASKED):
        hits = memory.search(block.content, top_k=20, layers=("keyword",), filter=EVERY).hits
        if block.id not in {hit.block.id for hit in hits}:
            yield f"block {block.id[:12]} is not found"


def _closed(folder: Path, added: set[str]) -> Iterator[str]:
    path = folder / "closed.duckdb"
    if path.exists():
        with Memory.open(path, clock=FixedClock(AT)) as memory:
            yield from (f"{path.name}: {fault.what}" for fault in memory.verify().faults)
            held = {block.id for block in memory.blocks(EVERY)}
            yield from (f"block {i[:12]} is lost" for i in added - held)
            yield from _unfound(memory)


def _exported(folder: Path) -> Iterator[str]:
    for export in (folder / "export.json", folder / "export.graphml"):
        if export.exists():
            with Memory.open(":memory:", clock=FixedClock(AT)) as memory:
                memory.exchange.load(export)
                if not memory.verify().ok:
                    yield f"{export.name} is not whole"


def _imported(folder: Path) -> Iterator[str]:
    sizes = set()
    for copy in folder.glob("copy-*.duckdb"):
        with Memory.open(copy, clock=FixedClock(AT)) as memory:
            verification = memory.verify()
            sizes.add(verification.blocks)
            if not verification.ok:
                yield f"{copy.name}: {verification.faults[0].what}"
        for path in [copy, Path(f"{copy}.wal")]:
            path.unlink(missing_ok=True)
    if len(sizes - {0}) > 1:
        yield f"imports are of {sorted(sizes)} blocks"


def many(count: int, seed: int, until: str = "") -> int:
    """Kill `count` processes, the stages in turn; stops at `until` (HH:MM). Prints and gives what was found."""
    draw, done, faults = random.Random(seed), Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        for life in range(count):
            if until and time.strftime("%H:%M") >= until:
                break
            stage = tuple(STAGES)[life % len(STAGES)]
            # Five lives to a store, then a new one.
            generation = life // len(STAGES) // 5
            path = Path(folder) / stage / f"{generation}" / "s.duckdb"
            shutil.rmtree(path.parent.with_name(f"{generation - 1}"), ignore_errors=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            kill(path, stage, life * 1000, draw.uniform(0.0, 0.6))
            done[stage] += 1
            for fault in faults_after(path):
                faults += 1
                sys.stdout.write(f"{stage}, kill {life}: {fault}\n")
            if life % 50 == 49:
                sys.stdout.write(f"{life + 1} kills, {faults} faults\n")
                sys.stdout.flush()
    kinds = ", ".join(f"{stage} {n}" for stage, n in done.items())
    sys.stdout.write(f"{done.total()} kills, {faults} faults: {kinds}\n")
    return faults


if __name__ == "__main__":
    reader = argparse.ArgumentParser(prog="python -m tests.safety.kill_world")
    reader.add_argument("--count", type=int, default=len(STAGES))
    reader.add_argument("--seed", type=int, default=0)
    reader.add_argument("--until", default="")
    sys.exit(min(many(**vars(reader.parse_args())), 1))
