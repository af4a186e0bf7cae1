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
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from amgs.types import Block, IngestReport, Refusal
from amgs_app.render.encode import plain, rounded, to_json
from amgs_app.render.sheet import sheet, to_csv, to_lines
from amgs_app.shell.output import as_text

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


def test_embeddings_are_never_printed() -> None:
    block = Block("ab" * 32, "Dome", NOON, NOON, embedding=np.ones(384, np.float32))
    assert "embedding" not in json.loads(to_json(block))


@given(st.floats())
def test_a_number_is_rounded_once_and_for_all(value: float) -> None:
    once = rounded(value)
    if once is not None:
        assert rounded(once) == once
        assert str(once) != "-0.0"
        assert abs(once - value) <= abs(value) * 1e-5
    else:
        assert not np.isfinite(value)


def test_what_has_no_form_is_a_fault_and_not_a_guess() -> None:
    with pytest.raises(TypeError, match="object"):
        plain({"x": object()})


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


def test_a_refused_file_is_named_in_the_table() -> None:
    report = IngestReport(("a" * 64,), (), (Refusal("big.md", "larger than 32 MiB"),))
    text = as_text(report, width=80)
    assert text.startswith("1 new, 0 duplicates, 1 rejected\n")
    assert "big.md  larger than 32 MiB" in text
