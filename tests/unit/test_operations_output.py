"""Results as JSON, tables and CSV: exact, without vectors, and never wider than asked."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import NamedTuple

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from amgs_app.render.encode import plain, to_json
from amgs_app.render.sheet import sheet, to_csv, to_lines

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


class Pair(NamedTuple):
    left: int
    right: float


@dataclass(frozen=True)
class Sample:
    name: str
    at: datetime
    pairs: tuple[Pair, ...]
    place: Path
    vector: np.ndarray[tuple[int], np.dtype[np.float32]]
    number: np.float32


def test_a_result_becomes_plain_json() -> None:
    local = NOON.astimezone(timezone(timedelta(hours=2)))
    made = plain(Sample("é", local, (Pair(1, 1 / 3),), Path("a/b"), np.zeros(4, np.float32), np.float32(0.1)))
    assert made == {"name": "é", "at": "2026-03-01T12:00:00Z", "pairs": [[1, 0.333333]], "place": "a/b", "number": 0.1}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(_JSON)
def test_json_is_laid_out_without_changing_it(value: object) -> None:
    text = to_json(value)
    assert json.loads(text) == value
    assert text.endswith("\n")
    assert to_json(json.loads(text)) == text


@given(
    st.lists(st.tuples(st.text(max_size=60), st.integers(), st.text(max_size=60)), min_size=1, max_size=5),
    st.integers(60, 140),
)
def test_a_table_stays_within_its_width(rows: list[tuple[str, int, str]], width: int) -> None:
    made = sheet("", "title* count:n note*", rows)
    assert all(cell_len(line.plain) <= width for line in to_lines(made, width))
    assert all("\n" not in line.plain for line in to_lines(made, width))


def test_csv_holds_the_values_in_full() -> None:
    made = sheet("said", "id:id at:at score:score", [("ab" * 32, NOON, 1 / 3), ("c,\n", None, 0.5)])
    rows = list(csv.reader(io.StringIO(to_csv(made))))
    assert rows == [["id", "at", "score"], ["ab" * 32, "2026-03-01T12:00:00Z", "0.333333"], ["c,\n", "", "0.5"]]
