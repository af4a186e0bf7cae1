"""Links between files become edges, also when their target comes later; those to nowhere are counted."""

from __future__ import annotations

from pathlib import Path

from amgs.memory import Memory
from amgs.types import BlockFilter
from tests.engine.memory_world import open_memory, write_notes


def linked(memory: Memory) -> set[tuple[str, str]]:
    sources = {b.id: str(b.meta["source"]) for b in memory.blocks(BlockFilter())}
    return {(sources[e.source_id], sources[e.target_id]) for e in memory.edges() if e.relation_type == "links_to"}


def test_links_of_every_form_are_edges_and_one_that_leads_nowhere_is_counted(tmp_path: Path) -> None:
    files = {
        "guide/start.md": '# Start\n\nSee [the setup](../setup.md#linux "x"), [it][i], [gone](gone.md), [p](a.png), '
        "[site](https://x.org/y.md).\n\n```\n[no](late.md)\n```\n\n[i]: <use.md>",
        "setup.md": "# Setup\n\nNothing here.",
        "guide/use.md": "# Use\nBack to [the start](start.md).",
        "guide/late.md": "Late\n====\n\nSee [here](<use.md>) and [[start]].",
        "page.html": "<h1>Page</h1><p>The <a href='guide/late.md#x'>late</a> one, <a href='#top'>top</a>.</p>",
        "code.py": "x = table[0](setup.md)\n",
    }
    with open_memory() as memory:
        report = memory.ingest_folder(write_notes(tmp_path, files))
        memory.consolidate()
        edges = linked(memory)
    assert report.links_to_nowhere == 1
    assert edges == {
        ("guide/start.md", "setup.md"),
        ("guide/start.md", "guide/use.md"),
        ("guide/use.md", "guide/start.md"),
        ("guide/late.md", "guide/use.md"),
        ("guide/late.md", "guide/start.md"),
        ("page.html", "guide/late.md"),
    }


def test_a_target_that_comes_later_is_linked_then(tmp_path: Path) -> None:
    with open_memory() as memory:
        first = memory.ingest_folder(write_notes(tmp_path, {"a.md": "See [b](sub/b.md).", "sub/c.md": "Alone."}))
        memory.consolidate()
        assert first.links_to_nowhere == 1 and linked(memory) == set()
        write_notes(tmp_path, {"sub/b.md": "Here."})
        assert memory.ingest_folder(tmp_path).links_to_nowhere == 0
        memory.consolidate()
        assert linked(memory) == {("a.md", "sub/b.md")}
