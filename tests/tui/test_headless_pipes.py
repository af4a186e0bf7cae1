"""Whatever a verb gives can be seen as a table, as CSV and as JSON, in the shell and in scripts."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from amgs_app.render.catalogue import table_of
from amgs_app.render.encode import to_json
from amgs_app.shell.output import as_text
from tests.tui import figure_samples as samples
from tests.tui.headless_world import Amgs


@pytest.mark.parametrize(
    "result",
    [samples.frame(), samples.search(), samples.plan(), samples.neighbourhood(), samples.recalibration()],
    ids=lambda result: type(result).__name__,
)
def test_what_is_piped_is_whole_and_can_be_read_back(result: object) -> None:
    rows = list(csv.reader(io.StringIO(as_text(result, "csv"))))
    made = table_of(result)
    assert rows[0] == [column.name for column in made.columns] and len(rows) == len(made.rows) + 1
    assert {len(row) for row in rows} == {len(made.columns)}
    assert isinstance(json.loads(to_json(result)), dict)


def test_a_pipe_into_something_else_is_said_before_anything_is_done(amgs: Amgs, tmp_path: Path) -> None:
    script = tmp_path / "pipes.amgs"
    script.write_text("ingest 'a thought'\nsearch dome | xml\n", encoding="utf-8")
    assert amgs("run", str(script)) == 2
    assert "pipes.amgs:2:15" in amgs.err and "ingest" not in amgs.err.splitlines()[0]
    amgs("status", "--format", "json")
    assert json.loads(amgs.out)["store"]["blocks"].get("raw", 0) == 0
