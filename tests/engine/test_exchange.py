"""A memory leaves as a file and comes back with every row, or not at all."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from amgs.errors import AmgsError, InputError, StoreCorruptError, StoreTooNewError, UsageError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from tests.engine.memory_world import NOW, consolidated, open_memory, table_rows

FORMS: tuple[Literal["json", "graphml"], ...] = ("json", "graphml")


def rows(memory: Memory) -> dict[str, list[Any]]:
    """Every row of every table, but for what belongs to the store itself."""
    store = memory._storage
    found = {
        table: [*table_rows(store, table, columns)]
        for table, columns in store.tables.schema().items()
        if table != "change_counter"
    }
    found["meta"] = sorted(row for row in found["meta"] if row[0] != "store_id")
    return found


@pytest.mark.parametrize("form", FORMS)
def test_everything_comes_back_and_answers_as_before(
    tmp_path: Path, form: Literal["json", "graphml"]
) -> None:
    path = tmp_path / "m.export"
    with consolidated(tmp_path / "notes") as memory:
        frame = memory.assemble("SESSION", query="dome valve")
        memory.feedback(frame.selected[0].block.id, useful=True)
        memory.ingest_text("raw and\x00 strange \r\n \x1b[0m ]]> & < \u2028 שלום 🎉 json:{}")
        memory.ingest_text('json:"coded"')
        done = memory.exchange.export(path, form)
        wanted, hits = rows(memory), memory.search("dome valve").hits
        assert done.bytes == path.stat().st_size and not list(tmp_path.glob("*.part"))
    with open_memory(tmp_path / "other.duckdb") as other:
        other.search("nothing")
        assert other.exchange.load(path).form == form
        assert rows(other) == wanted
        assert [(h.block.id, h.score) for h in other.search("dome valve").hits] == [
            (h.block.id, h.score) for h in hits
        ]
        assert other.verify().ok and other.frames.replay(frame.id).equal
        other.undo(2)
        assert other.verify().ok


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=4),
    st.dictionaries(st.text(max_size=5), st.text() | st.integers(-5, 5) | st.none(), max_size=3),
    st.sampled_from(FORMS),
)
def test_any_text_and_metadata_come_back(
    tmp_path: Path, texts: list[str], meta: dict[str, Any], form: Literal["json", "graphml"]
) -> None:
    path = tmp_path / "any"
    with open_memory() as memory, open_memory() as other:
        memory.ingest_many([RawBlock(text, NOW, meta) for text in texts])
        memory.exchange.export(path, form)
        other.exchange.load(path)
        assert rows(other) == rows(memory)


@pytest.mark.parametrize("form", FORMS)
def test_a_changed_block_is_refused_and_nothing_is_imported(
    tmp_path: Path, form: Literal["json", "graphml"]
) -> None:
    path = tmp_path / "m"
    with consolidated(tmp_path / "notes") as memory:
        memory.exchange.export(path, form)
    path.write_text(path.read_text(encoding="utf-8").replace("azimuth 200", "azimuth 201"), encoding="utf-8")
    with open_memory() as other:
        before = rows(other)
        with pytest.raises(StoreCorruptError, match="1 block of the file does not hash"):
            other.exchange.load(path)
        assert rows(other) == before


def test_other_files_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    with consolidated(tmp_path / "notes") as memory:
        memory.exchange.export(path)
        with pytest.raises(UsageError, match="already holds"):
            memory.exchange.load(path)
        with pytest.raises(InputError, match="cannot be written"):
            memory.exchange.export(tmp_path / "missing" / "m.json")
    text = path.read_text(encoding="utf-8")
    newer = text.replace('"schema": ', '"schema": 9')
    for content, error in (
        ("", InputError),
        ("[]", InputError),
        (text[:-100], InputError),
        ("<graphml/>", InputError),
        ("<broken", InputError),
        (newer, StoreTooNewError),
        (text.replace('"edges": {', '"hedges": {'), InputError),
    ):
        path.write_text(content, encoding="utf-8")
        with open_memory() as other, pytest.raises(error):
            other.exchange.load(path)


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small memory in both forms."""
    folder = tmp_path_factory.mktemp("exports")
    with consolidated(folder / "notes") as memory:
        memory.assemble("SESSION", query="dome valve")
        for form in FORMS:
            memory.exchange.export(folder / form, form)
    return folder


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(FORMS),
    st.floats(0, 1),
    st.integers(0, 40),
    st.one_of(
        st.binary(max_size=6),
        st.sampled_from([b"null", b"-1", b"1e999", b"NaN", b'"x"', b"[[", b"]", b"{}", b"\\ud800", b"0"]),
    ),
)
@example("graphml", 0.23828125, 0, b" ")
@example("graphml", 0.2414346340198042, 0, b" ")
def test_a_damaged_file_is_refused_whole_or_holds_together(
    tmp_path: Path, exports: Path, form: str, where: float, lost: int, instead: bytes
) -> None:
    whole = (exports / form).read_bytes()
    at = int(where * len(whole))
    path = tmp_path / "damaged"
    path.write_bytes(whole[:at] + instead + whole[at + lost :])
    with open_memory() as memory:
        before = rows(memory)
        try:
            memory.exchange.load(path)
        except AmgsError as error:
            assert error.message and error.way_out
            assert rows(memory) == before
        assert memory.verify().ok
        memory.assemble("SESSION", query="dome", reinforce=False)


def test_nesting_without_end_is_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "deep"
    for content in ("[" * 200_000, '{"form": "amgs memory", "x": ' + "[" * 200_000, "<a>" * 200_000):
        path.write_text(content, encoding="utf-8")
        with open_memory() as memory, pytest.raises(InputError, match="damaged"):
            memory.exchange.load(path)


def test_graph_programs_find_nodes_and_edges_with_their_attributes(tmp_path: Path) -> None:
    import networkx

    path = tmp_path / "m.graphml"
    with consolidated(tmp_path / "notes") as memory:
        done = memory.exchange.export(path, "graphml")
        (dome,) = memory.resolve_source("places/dome.md")
    graph = networkx.read_graphml(path)
    assert (graph.number_of_nodes(), done.edges > 0) == (done.blocks, True)
    assert graph.nodes[dome]["content"].startswith("# Dome") and graph.nodes[dome]["confidence"] > 0
    assert ElementTree.parse(path).getroot().tag.endswith("graphml")
    assert json.loads(graph.nodes[dome]["meta"])["source"] == "places/dome.md"
