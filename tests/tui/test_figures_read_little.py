"""A figure reads the blocks whose titles it shows, however many the memory holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from amgs.storage.blocks import BlockStorage
from amgs_app.engine import Engine, Options
from amgs_app.render.canvas import Canvas
from amgs_app.render.catalogue import draw
from amgs_app.session import Operator
from tests.engine.memory_world import NOW, write_notes
from tests.tui.real_world import say

BLOCK = "places/dome.md"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Operator:
    notes = write_notes(tmp_path_factory.mktemp("notes"))
    for number in range(60):
        (notes / f"unlinked-{number}.md").write_text(f"# Stone {number}\n\nA stone like no other, {number}.\n")
    made = Operator(Engine(Options(corpus=notes, store=":memory:", model="tiny", now=NOW, seed=7)))
    made.engine.memory.ingest_folder(notes)
    say(made, "consolidate")
    return made


@contextmanager
def blocks_read(monkeypatch: pytest.MonkeyPatch) -> Iterator[set[str]]:
    """The ids of the blocks that are read, contents and all, while it lasts."""
    read: set[str] = set()
    get, select = BlockStorage.get, BlockStorage.select

    def counted_get(self: BlockStorage, *given: Any, **options: Any) -> Any:
        found = get(self, *given, **options)
        read.update(found)
        return found

    def counted_select(self: BlockStorage, *given: Any, **options: Any) -> Any:
        found = select(self, *given, **options)
        read.update(block.id for block in found)
        return found

    with monkeypatch.context() as patched:
        patched.setattr(BlockStorage, "get", counted_get)
        patched.setattr(BlockStorage, "select", counted_select)
        yield read


def test_the_figure_of_a_block_reads_the_ends_of_its_edges(session: Operator, monkeypatch: pytest.MonkeyPatch) -> None:
    result = say(session, f"block show {BLOCK}")
    ends = {end for edge in session.engine.memory.edges(result.block.id) for end in (edge.source_id, edge.target_id)}
    assert ends  # else there is nothing to read
    with blocks_read(monkeypatch) as read:
        draw(session, result, Canvas(100, 30), session.look_at)
    assert read == ends
