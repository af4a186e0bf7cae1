"""A pipe in a script leads to a form that exists, or is refused before anything is done."""

from __future__ import annotations

import json
from pathlib import Path

from tests.tui.headless_world import Amgs


def test_a_pipe_into_something_else_is_said_before_anything_is_done(amgs: Amgs, tmp_path: Path) -> None:
    script = tmp_path / "pipes.amgs"
    script.write_text("ingest 'a thought'\nsearch dome | xml\n", encoding="utf-8")
    assert amgs("run", str(script)) == 2
    assert "pipes.amgs:2:15" in amgs.err and "ingest" not in amgs.err.splitlines()[0]
    amgs("status", "--format", "json")
    assert json.loads(amgs.out)["store"]["blocks"].get("raw", 0) == 0
