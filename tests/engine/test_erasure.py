"""Erasure: a text that was erased is nowhere in the store any more, and what is left is sound."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path

import pytest

from amgs.errors import UnknownBlockError, UsageError
from amgs.ingest.raw_blocks import RawBlock
from amgs.lifecycle.erase import gives_away
from amgs.memory import Memory
from amgs.types import Block, BlockFilter
from tests.engine.lifecycle_world import EVERY, OTHERS, TWO_CONCEPTS, lively
from tests.engine.memory_world import NOW, open_memory

MARKER = "quizzlewrath"
SECRET = f"# The {MARKER} affair\n\nFerdinand told the mill that {MARKER.upper()} is paid in honey from November."


def _holding(folder: Path) -> list[str]:
    """The files of a folder that hold the marker, whatever its case."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return [str(path.relative_to(folder)) for path in files if MARKER.encode() in path.read_bytes().lower()]


def _keyword_files(path: Path) -> set[str]:
    """The segments of the keyword index."""
    return {one.name for one in Path(f"{path}.index", "keyword").iterdir() if one.suffix == ".term"}


def _secret(memory: Memory) -> Block:
    return next(block for block in memory.blocks(EVERY) if MARKER in block.content)


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a memory in which the secret has left traces everywhere: edited, found, assembled, undone."""
    path = tmp_path_factory.mktemp("used") / "memory.duckdb"
    memory = open_memory(str(path))
    memory.ingest_many(RawBlock(text, NOW, {"source": f"notes/{n}.md"}) for n, text in enumerate(OTHERS))
    memory.ingest_many([RawBlock(SECRET, NOW, {"source": "notes/secret.md"})])
    memory.consolidate()
    secret = _secret(memory).id
    other = next(block.id for block in memory.blocks(BlockFilter()) if "clocks" in block.content)
    memory.set_metadata(secret, category="decision")
    memory.note(secret, f"about {MARKER}")
    memory.tag(secret, [MARKER])  # a summary that names it
    memory.add_edge(secret, other)
    memory.set_metadata(secret, confidence=0.2)
    memory.undo(memory.operations(1)[0].id)
    memory.lifecycle.delete([secret])
    memory.lifecycle.apply_pruning(memory.lifecycle.plan_pruning(hard=True))
    memory.undo(memory.operations(1)[0].id)
    memory.undo(next(one.id for one in memory.operations(9) if one.kind == "delete"))
    memory.search(f"the {MARKER} affair", keep=True)
    memory.search("who is paid in honey", keep=True)
    memory.frames.remember(memory.context(f"what is {MARKER}?"))
    memory.frames.cached("SESSION", query=MARKER)
    memory.reinforce([secret], event_type="explicit", source="test")
    memory.keep("bookmark", f"look at {MARKER}")
    memory.close()
    earlier = [{"id": secret, "content": SECRET}, {"id": other, "content": "clocks"}]  # as versions before 0.2 wrote
    lines = "".join(json.dumps(line) + "\n" for line in earlier)
    path.with_name(f"{path.name}.deleted.jsonl").write_text(lines, encoding="utf-8")
    return path.parent


@pytest.fixture
def path(used: Path, tmp_path: Path) -> Path:
    """A copy of that memory, in a folder of its own."""
    return Path(shutil.copytree(used, tmp_path / "store")) / "memory.duckdb"


def test_no_file_of_the_store_holds_an_erased_text(path: Path) -> None:
    held = _holding(path.parent)
    assert "memory.duckdb" in held and "memory.duckdb.deleted.jsonl" in held, "else the test could not fail"
    words = _keyword_files(path)  # terms are packed there, so that no word can be read off the bytes
    memory = open_memory(str(path))
    memory.search(MARKER, keep=True)
    secret = _secret(memory).id
    before = {block.id for block in memory.blocks(EVERY)}
    receipt = memory.erasure.erase([secret])
    assert _holding(path.parent) == [], "already while it is open"
    assert words and not words & _keyword_files(path)
    assert receipt.ids == (secret,) and receipt.compacted and not receipt.related
    assert receipt.verification.faults == () and receipt.rows["memory_blocks"] == 1
    tables = {"operation_rows", "searches", "reinforcement_log", "ledger", "deleted_blocks", "meta", "assemblies"}
    assert tables <= set(receipt.rows)
    kept, now = receipt.indexes["keyword index"]
    assert now == kept - 1
    assert {block.id for block in memory.blocks(EVERY)} == before - {secret}
    assert not any(hit.block.id == secret for hit in memory.search(MARKER).hits)
    assert MARKER not in repr(receipt).lower()
    memory.close()
    assert _holding(path.parent) == []
    with open_memory(str(path)) as again:
        assert again.verify().faults == ()
        with pytest.raises(UnknownBlockError):
            again.block(secret)


def test_an_erasure_is_in_the_journal_and_cannot_be_undone() -> None:
    with lively() as memory:
        going = memory.blocks(BlockFilter())[0].id
        last = memory.operations(1)[0].id
        receipt = memory.erasure.erase([going])
        entry = memory.operations(1)[0]
        assert entry == receipt.operation and entry.kind == "erase" and entry.blocks == 1
        with pytest.raises(UsageError, match="nothing of it is left"):
            memory.undo(entry.id)
        assert memory.lifecycle.plan_undo().operation.id == last, "what came before can still be undone"
        memory.undo(last)
        assert going not in {block.id for block in memory.blocks(EVERY)}
        assert {block.status for block in memory.blocks(EVERY)} == {"raw"}
        assert memory.verify().faults == ()


def test_what_was_split_from_an_erased_block_is_named_and_stays() -> None:
    with lively() as memory:
        whole = next(block for block in memory.blocks(BlockFilter()) if block.content.startswith("# Mixed"))
        assert whole.content.strip() == TWO_CONCEPTS.strip()
        plan = memory.lifecycle.plan_enhancement(kinds=["split"])
        memory.lifecycle.apply_enhancement(plan)
        parts = {block.id for block in memory.blocks(BlockFilter()) if whole.id in block.meta.get("derived_from", ())}
        planned = memory.erasure.plan([whole.id])
        assert parts and {one.id for one in planned.related} == parts
        assert {one.because for one in planned.related} == {"made from it"}
        receipt = memory.erasure.erase([min(parts)])
        assert [(one.id, one.because) for one in receipt.related] == [(whole.id, "it was made from this")]


def test_deleting_softly_can_be_undone() -> None:
    with lively() as memory:
        going = memory.blocks(BlockFilter())[0]
        edges = memory.edges(going.id)
        done = memory.lifecycle.delete([going.id])
        assert memory.block(going.id).status == "pruned" and memory.edges(going.id) == ()
        memory.undo(done.id)
        assert memory.block(going.id).status == "consolidated" and memory.edges(going.id) == edges


def test_a_reader_that_does_not_let_go_leaves_the_file_to_be_written_on_closing(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(str(path))
    storage = memory._storage
    compact = storage.erasure.compact
    monkeypatch.setattr(storage.erasure, "compact", lambda: compact(0.05))
    inside, leave = threading.Event(), threading.Event()

    def read() -> None:
        with storage.snapshot():
            inside.set()
            leave.wait(20)

    reader = threading.Thread(target=read)
    reader.start()
    inside.wait(20)
    receipt = memory.erasure.erase([_secret(memory).id])
    assert not receipt.compacted and memory.erasure.unfinished
    assert memory.count(BlockFilter()) == 3, "others go on"
    leave.set()
    reader.join()
    memory.close()
    assert _holding(path.parent) == []
    with open_memory(str(path)) as again:
        assert not again.erasure.unfinished and again.verify().faults == ()


def test_a_full_disk_while_the_file_is_written_anew_leaves_the_store_whole(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory(str(path))
    real = Path.replace

    def full(self: Path, target: Path | str) -> Path:
        if self.name == "memory.duckdb.part":
            raise OSError(28, "No space left on device")
        return real(self, target)

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        memory.erasure.erase([_secret(memory).id])
    assert memory.erasure.unfinished and memory.verify().faults == ()
    monkeypatch.undo()
    memory.close()
    assert _holding(path.parent) == []


def test_a_text_gives_away_what_was_erased_by_a_run_or_a_word_of_its_own() -> None:
    tells = gives_away(["Ada meets Bob at the Larkspur café on Friday."], lambda word: word not in ("larkspur",))
    assert tells("Where is LARKSPUR?") and tells("ada  meets bob")
    assert not tells("Friday, at the café") and not tells("")
