"""Files as people keep them: what is no note is counted, what cannot be read is named, sources stay apart."""

from __future__ import annotations

import json
import os
from pathlib import Path

from amgs.memory import Memory
from amgs.text.embedding_text import embedding_text
from amgs.types import Block, BlockFilter, Skipped
from tests.engine.memory_world import open_memory, write_notes

RAW = BlockFilter(statuses=("raw",))
LONG = "The writer waits until the queue is drained. " * 30


def by_source(memory: Memory) -> dict[str, Block]:
    return {str(b.meta["source"]): b for b in memory.blocks(RAW)}


def test_every_piece_of_a_long_note_has_its_nearest_heading_and_the_notes_title_beside_it(tmp_path: Path) -> None:
    text = f"# Streams\n\n{LONG}\n\n## Class: `WritableStream`\n\n{LONG}\n\nmore {LONG}\n\nSetext\n------\n\n{LONG}"
    with open_memory() as memory:
        memory.ingest_folder(write_notes(tmp_path, {"streams.md": text}))
        blocks = [b for _, b in sorted(by_source(memory).items())]
    assert [b.title for b in blocks] == [
        "Streams",
        "Streams › Class: WritableStream",
        "Streams › Class: WritableStream",
        "Streams › Setext",
    ]
    assert [b.meta["title"] for b in blocks[1:]] == ["Class: WritableStream"] * 2 + ["Setext"]
    assert [b.meta["lines"] for b in blocks] == ["1-3", "5-7", "9-9", "11-14"]
    assert embedding_text(blocks[2]).startswith("Streams\nClass: WritableStream\nmore The writer")
    assert embedding_text(blocks[1]).startswith("Streams\n## Class: WritableStream")


def test_other_plain_texts_are_read_and_what_is_no_text_is_counted_by_kind(tmp_path: Path) -> None:
    files = {
        "a.rst": "Using cpack\n===========\n\nThe DEB generator makes a package.",
        "b.org": "#+TITLE: Boat\n* Rent\nDue on the first.",
        "c.TXT": "# not a heading\nA plain text.",
        "d.markdown": "# Bread\nRye.",
        "README": "The pump is oiled in May.",
        "e.json": "{}",
        "f.JSON": "{}",
        "program": "\x00\x01",
    }
    with open_memory() as memory:
        report = memory.ingest_folder(write_notes(tmp_path, files))
        titles = {source: block.title for source, block in by_source(memory).items()}
    assert report.skipped == (Skipped("", 1, ("program",)), Skipped(".json", 2, ("e.json", "f.JSON")))
    assert titles == {
        "a.rst": "Using cpack",
        "b.org": "Rent",
        "README": "The pump is oiled in May.",
        "c.TXT": "not a heading",
        "d.markdown": "Bread",
    }


def test_link_definitions_and_comments_are_no_memories_and_are_not_embedded(tmp_path: Path) -> None:
    links = "\n".join(f"[`call{i}`]: timers.md#call-{i}-a-long-address" for i in range(60))
    text = f"# Timers\n\n<!-- YAML\nadded: v18\n-->\n\n{LONG}\n\n## More\n\n{LONG} [a footnote][^1]\n\n"
    text += f"[^1]: It is kept.\n\n{links}\n"
    short = "# Short\n\n<!-- hidden -->\nSeen words.\n\n[x]: https://example.org"
    with open_memory() as memory:
        memory.ingest_folder(write_notes(tmp_path, {"t.md": text, "s.md": short, "u.md": "<!-- todo -->\n"}))
        blocks = by_source(memory)
        kept = "\n".join(b.content for s, b in blocks.items() if s.startswith("t.md"))
        refused = memory.ingest_folder(tmp_path).refused
    assert "timers.md" not in kept and "added: v18" not in kept and "It is kept." in kept
    assert blocks["s.md"].content == short.strip()
    assert "hidden" not in embedding_text(blocks["s.md"]) and "example.org" not in embedding_text(blocks["s.md"])
    assert [(r.source, r.reason) for r in refused] == [("u.md", "it holds nothing but comments and link definitions")]


def test_a_code_fence_stays_whole_and_what_stands_in_it_is_no_heading(tmp_path: Path) -> None:
    code = "```sh\n# install it\nmake\n\n# run it\n" + "run --all\n" * 60 + "```"
    text = f"# Tool\n\n{LONG}\n\nDo this:\n{code}\n\n## Next\n\n{LONG}"
    with open_memory() as memory:
        memory.ingest_folder(write_notes(tmp_path, {"tool.md": text}))
        blocks = [b for _, b in sorted(by_source(memory).items())]
    assert [b.content.count("```") for b in blocks] == [0, 2, 0]
    assert [b.title for b in blocks] == ["Tool", "Tool", "Tool › Next"]


def test_a_file_name_with_a_hash_is_its_own_source_and_its_own_episode(tmp_path: Path) -> None:
    text = f"# One\n\n{LONG}\n\n## Two\n\n{LONG}"
    files = {"C# notes.md": text, "C# other.md": text.replace("writer", "reader"), "C.md": "# C\nplain"}
    with open_memory() as memory:
        memory.ingest_folder(write_notes(tmp_path, files))
        assert len(memory.resolve_source("C# notes.md")) == 2
        assert len(memory.resolve_source("C.md")) == 1
        assert memory.has_source(["x.md", "C# notes.md"]) and not memory.has_source(["x.md", "C#.md"])
        memory.consolidate()
        followed = [e for e in memory.edges() if e.relation_type == "next"]
        files_of = [
            {str(memory.block(i).meta["source"]).rpartition("#")[0] for i in (e.source_id, e.target_id)}
            for e in followed
        ]
    assert sorted(map(sorted, files_of)) == [["C# notes.md"], ["C# other.md"]]


def two_folders(memory: Memory, folder: Path) -> None:
    """Take in two folders, each with a file of the same name."""
    for name in ("Alpha", "Beta"):
        text = f"# {name}\n\n{LONG}{name}\n\n## {name} end\n\n{LONG}{name}"
        memory.ingest_folder(write_notes(folder / name, {"README.md": text}))


def test_two_folders_with_one_name_of_file_stay_apart(tmp_path: Path) -> None:
    with open_memory() as memory:
        two_folders(memory, tmp_path)
        assert sorted(by_source(memory)) == ["Beta/README.md#1", "Beta/README.md#2", "README.md#1", "README.md#2"]
        assert memory.ingest_folder(tmp_path / "Beta").operation is None
        assert memory.ingest_file(tmp_path / "Beta" / "README.md").operation is None
        memory.consolidate()
        titles = {b.id: b.title for b in memory.blocks(BlockFilter())}
        edges = [(titles[e.source_id], titles[e.target_id]) for e in memory.edges() if e.relation_type == "next"]
    assert sorted({tuple(sorted(pair)) for pair in edges}) == [
        ("Alpha", "Alpha › Alpha end"),
        ("Beta", "Beta › Beta end"),
    ]


def test_a_folder_that_was_moved_keeps_its_sources(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    first = tmp_path / "old" / "notes"
    first.mkdir()
    write_notes(first, {"a.md": "The dome."})
    with open_memory() as memory:
        memory.ingest_folder(first)
        first.rename(tmp_path / "notes")
        (tmp_path / "notes" / "a.md").write_text("The dome, edited.")
        memory.ingest_folder(tmp_path / "notes")
        assert {b.meta["source"] for b in memory.blocks(RAW)} == {"a.md"}


def test_front_matter_is_read_to_its_depth_and_its_broken_lines_are_named(tmp_path: Path) -> None:
    text = (
        "---\ntitle: T: u\nauthor:\n  name: Ann\n  roles: [cook, driver]\ntags:\n  - a\n  - b\n"
        "this line is broken\nbad:\n  x: [open\n---\nBody"
    )
    with open_memory() as memory:
        report = memory.ingest_folder(write_notes(tmp_path, {"n.md": text}))
        meta = memory.block(report.added[0]).meta
    assert meta["title"] == "T: u" and meta["tags"] == ["a", "b"]
    assert meta["author"] == "Ann" and meta["note_author"]["roles"] == ["cook", "driver"]
    assert [w.source for w in report.warnings] == ["n.md", "n.md"]
    assert "this line is broken" in report.warnings[0].reason + report.warnings[1].reason


def test_a_file_name_that_is_not_utf8_gets_a_true_sentence(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.md")).write_text("words")
    with open_memory() as memory:
        (refused,) = memory.ingest_folder(tmp_path).refused
    assert refused.reason == "its file name is not UTF-8; rename the file"
    assert refused.source == "caf\\udce9.md"


def test_a_store_from_before_sources_were_kept_learns_them_from_its_blocks(tmp_path: Path) -> None:
    with open_memory() as memory:
        two_folders(memory, tmp_path)
        memory.ingest_text("A thought.", meta={"source": "diary"})
        store = memory._storage
        named, held = store.sources.names(), store.sources.read_pieces()
        roots = {str(tmp_path / "Alpha"): "", str(tmp_path / "Beta"): "Beta/"}
        with store.transaction():
            store.tables.clear("sources")
            store.tables.clear("source_blocks")
            store.meta.keep("source folders", json.dumps(roots))
            store.sources.adopt()
        assert (store.sources.names(), store.sources.read_pieces()) == (named, held)
        assert [(one.source, one.position) for one in held] == [
            ("Beta/README.md", 1),
            ("Beta/README.md", 2),
            ("README.md", 1),
            ("README.md", 2),
            ("diary", 1),
        ]


def test_a_note_named_or_titled_by_a_day_has_that_day(tmp_path: Path) -> None:
    files = {
        "a.md": "# Minutes, 4 March 2026\n\nWe chose the red gate.",
        "minutes-5-march-2026.md": "# Ideas\n\nThe oak is old.",
        "2026-03-06 talk.md": "We spoke of 3 May 2025.",
        "plan.md": "# Plan for 1 January 2099\n\nBuy paint.",
        "why.md": "# Why\n\nOn 3 May 2025 it broke.",
    }
    with open_memory() as memory:
        memory.ingest_folder(write_notes(tmp_path, files))
        days = {source: block.created_at.date().isoformat() for source, block in by_source(memory).items()}
    written = {"a.md": "2026-03-04", "minutes-5-march-2026.md": "2026-03-05", "2026-03-06 talk.md": "2026-03-06"}
    assert {source: days[source] for source in written} == written
    assert not {days["plan.md"], days["why.md"]} & {"2099-01-01", "2025-05-03"}
