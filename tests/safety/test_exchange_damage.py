"""An import with wrong values is refused whole, and one that is taken in leaves a memory that works."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from amgs.errors import AmgsError, InputError, StoreError
from amgs.memory import Memory
from amgs.storage.tables import TableStorage
from tests.engine.memory_world import consolidated, open_memory
from tests.engine.test_exchange import FORMS, rows

Change = Callable[[dict[str, Any]], None]

_DEEP = "[" * 1000 + "]" * 1000
HOSTILE: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2,
    10**30,
    0.5,
    -0.5,
    float("nan"),
    float("inf"),
    "",
    " ",
    "x",
    "\ud800",
    "0" * 64,
    "null",
    "NaN",
    "[]",
    "{}",
    '{"a": NaN}',
    '{"source": 3}',
    '{"entities": "x"}',
    '{"tags": [[]]}',
    '{"follows": []}',
    '{"deep": ' + _DEEP + "}",
    _DEEP,
    "AAAA",
    "AAAAAA==",
    "AADAfw==",
    "not base64",
    "0001-01-01T00:00:00.000000+14:00",
    "9999-12-31T23:59:59.999999-14:00",
    "10000-01-01T00:00:00+00:00",
    "2026-13-45",
    [],
    [None],
    ["x"],
    {},
)


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small memory in both forms: used, judged, searched, and with a raw block."""
    folder = tmp_path_factory.mktemp("exports")
    with consolidated(folder / "notes") as memory:
        frame = memory.assemble("SESSION", query="dome valve")
        memory.feedback(frame.selected[0].block.id, useful=True)
        memory.lifecycle.apply_review(memory.lifecycle.plan_review())
        memory.ingest_text("The spare valve lies in the shed.")
        for form in FORMS:
            memory.exchange.export(folder / form, form)
    return folder


def works(memory: Memory) -> None:
    """Everything that reads or changes a memory runs through."""
    memory.search("dome valve")
    memory.assemble("SESSION", query="dome valve")
    memory.forecast(days=30)
    memory.status(), memory.health()
    memory.consolidate()
    memory.lifecycle.plan_enhancement()
    memory.frames.history()
    for operation in memory.operations():
        memory.lifecycle.operation(operation.id, 10)
    assert memory.verify().ok


def refused_or_sound(path: Path) -> bool:
    """Import the file into an empty store; gives whether it was taken in."""
    with open_memory() as memory:
        before = rows(memory)
        try:
            memory.exchange.load(path)
        except AmgsError as error:
            assert error.message and error.way_out and len(str(error)) < 1200
            assert rows(memory) == before
            return False
        try:
            works(memory)
        except StoreError as error:  # the name of another encoder is no damage; its vectors are not mixed with these
            assert "embeddings come from" in error.message and error.way_out
    return True


def changed(folder: Path, target: Path, change: Change) -> Path:
    """The JSON export with a change."""
    data = json.loads((folder / "json").read_text(encoding="utf-8"))
    change(data)
    target.write_text(json.dumps(data), encoding="utf-8")
    return target


def put(table: str, column: str, value: Any, row: int = 0) -> Change:
    def change(data: dict[str, Any]) -> None:
        given = data["tables"][table]
        place = [name for name, _ in given["columns"]].index(column)
        given["rows"][row % len(given["rows"])][place] = value

    return change


@settings(max_examples=20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_any_wrong_value_is_refused_or_harmless(exports: Path, tmp_path: Path, data: st.DataObject) -> None:
    document = json.loads((exports / "json").read_text(encoding="utf-8"))
    full = sorted(name for name, table in document["tables"].items() if table["rows"])
    table = data.draw(st.sampled_from(full))
    column = data.draw(st.sampled_from([name for name, _ in document["tables"][table]["columns"]]))
    value, row = data.draw(st.sampled_from(HOSTILE)), data.draw(st.integers(0, 50))
    refused_or_sound(changed(exports, tmp_path / "changed", put(table, column, value, row)))


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10_000), st.sampled_from([str(v) for v in HOSTILE if v != "\ud800"]))
def test_any_wrong_value_in_graphml_is_refused_or_harmless(
    exports: Path, tmp_path: Path, place: int, value: str
) -> None:
    tree = ElementTree.parse(exports / "graphml")
    cells = [cell for cell in tree.iter() if cell.tag.endswith("data")]
    cells[place % len(cells)].text = value
    path = tmp_path / "changed.graphml"
    tree.write(path, encoding="utf-8")
    refused_or_sound(path)


@pytest.mark.parametrize(
    ("table", "column", "value", "says"),
    [
        ("memory_blocks", "meta", "null", "meta: it is no metadata"),
        ("memory_blocks", "meta", "NaN", "NaN is no number"),
        ("memory_blocks", "meta", "[]", "meta: it is no metadata"),
        ("memory_blocks", "meta", '{"a": ' + _DEEP + "}", "nested more than"),
        ("memory_blocks", "meta", '{"entities": "Ilse"}', "meta: it is no metadata"),
        ("memory_blocks", "embedding", "", "at least one"),
        ("memory_blocks", "embedding", "AADAfw==", "finite"),
        ("memory_blocks", "embedding", "AACAPw==", "values, where meta names"),
        ("memory_blocks", "confidence", 1.5, "confidence is 1.5"),
        ("memory_blocks", "decay_lambda", -1.0, "decay_lambda is -1"),
        ("memory_blocks", "status", "eaten", "status is 'eaten'"),
        ("memory_blocks", "number", 10**30, "number is 1000"),
        ("memory_blocks", "created_at", "2026-13-45", "not a valid TIMESTAMP"),
        ("memory_blocks", "created_at", 5, "not a valid TIMESTAMP"),
        ("operations", "timestamp", '{"deep": ' + "[" * 1000 + "]" * 1000 + "}", "not a valid TIMESTAMP"),
        ("edges", "weight", float("nan"), "weight is nan: it should be a finite number"),
        ("edges", "target_id", "0" * 64, "fault"),
        ("edges", "target_id", "nobody", "target_id is 'nobody'"),
        ("frame_definitions", "scoring_weights", "{}", "no set of weights"),
        ("frame_definitions", "budget", -5, "too small to hold anything"),
        ("operation_rows", "after", '{"status": 3}', "no state of a"),
        ("assemblies", "walked", ["one two"], "walked"),
        ("meta", "value", None, "value"),
    ],
)
def test_a_wrong_value_is_named_in_a_few_lines(
    exports: Path, tmp_path: Path, table: str, column: str, value: Any, says: str
) -> None:
    path = changed(exports, tmp_path / "changed", put(table, column, value))
    with open_memory() as memory, pytest.raises(InputError) as caught:
        memory.exchange.load(path)
    assert says in caught.value.message
    assert len(caught.value.message) < 600


def test_a_block_that_comes_twice_is_refused(exports: Path, tmp_path: Path) -> None:
    def twice(data: dict[str, Any]) -> None:
        given = data["tables"]["memory_blocks"]["rows"]
        given.append(given[0])

    path = changed(exports, tmp_path / "changed", twice)
    with open_memory() as memory, pytest.raises(InputError, match="1 id occurs more than once"):
        memory.exchange.load(path)


def test_a_row_is_refused_before_the_first_is_written(
    exports: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:

    def never(*_: object) -> None:
        raise AssertionError("a row was written")

    monkeypatch.setattr(TableStorage, "insert", never)
    path = changed(exports, tmp_path / "changed", put("reinforcement_log", "block_id", 3, -1))
    with open_memory() as memory, pytest.raises(InputError, match="reinforcement_log, row"):
        memory.exchange.load(path)


def test_a_counter_out_of_range_is_refused(exports: Path, tmp_path: Path) -> None:
    for name in ("counter", "schema"):
        for value in (-1, 10**30, "3", 1.5, None, True):
            path = changed(exports, tmp_path / "changed", lambda data, n=name, v=value: data.update({n: v}))  # type: ignore[misc]
            with open_memory() as memory, pytest.raises(AmgsError):
                memory.exchange.load(path)
