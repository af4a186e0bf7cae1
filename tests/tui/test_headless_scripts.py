"""Scripts: errors carry script, line and column; snapshots are the same bytes; a check shows what differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs_app.calls.registry import standard
from amgs_app.shell.script import parse_script
from tests.tui.headless_world import Amgs


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "script.amgs"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "place", "pointed"),
    [
        ("status\n\nfrme list\n", ":3:1", "^"),
        ("status\n  frame asemble SESSION\n", ":2:9", "        ^"),
        ("search dome --limit many\n", ":1:21", " " * 20 + "^"),
        ('search "dome\n', ":1:8", " " * 7 + "^"),
        ("search\n", ":1:7", " " * 6 + "^"),
        ("status\r\nstatus now\r\n", ":2:8", " " * 7 + "^"),
    ],
)
def test_a_wrong_line_is_pointed_at_before_anything_is_done(
    amgs: Amgs, tmp_path: Path, text: str, place: str, pointed: str
) -> None:
    script = write(tmp_path, text)
    assert amgs("run", script) == 2
    assert amgs.out == ""
    lines = amgs.err.split("\n")
    assert lines[0].startswith(f"{script}{place}: ")
    assert lines[2] == f"    {pointed}"


def test_a_script_that_is_not_utf8_is_refused(amgs: Amgs, tmp_path: Path) -> None:
    path = tmp_path / "script.amgs"
    path.write_bytes(b"search caf\xe9\n")
    assert amgs("run", str(path)) == 3
    assert "byte 10" in amgs.err


def test_a_check_passes_on_what_was_kept_and_shows_what_differs(amgs: Amgs, tmp_path: Path) -> None:
    script = write(tmp_path, "graph stats\nsnapshot stats\ndecay forecast\nsnapshot decay\n")
    out = tmp_path / "out"
    assert amgs("run", script, "--out", str(out)) == 0
    assert amgs("run", script, "--out", str(out), "--check") == 0
    kept = (out / "stats.json").read_text(encoding="utf-8")
    (out / "stats.json").write_text(kept.replace('"nodes": 4', '"nodes": 5'), encoding="utf-8")
    (out / "decay.txt").unlink()
    assert amgs("run", script, "--out", str(out), "--check") == 1
    assert '-{"nodes": 5' in amgs.err
    assert '+{"nodes": 4' in amgs.err
    assert "decay.txt is missing" in amgs.err
    assert not (out / "decay.txt").exists()


@pytest.mark.parametrize("before", ["../", "{}/", "in/../../"])
def test_a_snapshot_name_cannot_leave_the_folder(amgs: Amgs, tmp_path: Path, before: str) -> None:
    script = write(tmp_path, f"graph stats\nsnapshot {before.format(tmp_path)}outside\n")
    assert amgs("run", script, "--out", str(tmp_path / "out")) == 2
    assert not (tmp_path / "outside.txt").exists()


def test_a_snapshot_is_not_written_to_where_a_link_leads(amgs: Amgs, tmp_path: Path) -> None:
    script = write(tmp_path, "graph stats\nsnapshot stats\n")
    (tmp_path / "kept").write_text("mine", encoding="utf-8")
    (tmp_path / "out").mkdir()
    for name in ("stats.txt", "stats.json", "stats.json.new"):
        (tmp_path / "out" / name).symlink_to("../kept")
    assert amgs("run", script, "--out", str(tmp_path / "out")) == 0
    assert (tmp_path / "kept").read_text(encoding="utf-8") == "mine"
    assert "nodes" in (tmp_path / "out" / "stats.json").read_text(encoding="utf-8")


def test_what_a_session_did_is_a_script_that_does_it_again(amgs: Amgs, tmp_path: Path) -> None:
    from amgs_app.engine import Engine, Options
    from amgs_app.session import Operator
    from tests.tui.real_world import say

    registry = standard()
    with Operator(Engine(Options(store=":memory:", corpus=amgs.corpus, model="tiny"))) as session:
        for line in ("ingest", "consolidate --limit 3", "search 'dome motor' --limit=2", "expect raw == 1"):
            say(session, line)
        call = registry.call("save", file=tmp_path / "again.amgs")
        assert session.run(call).lines == 4
    script = (tmp_path / "again.amgs").read_text(encoding="utf-8")
    assert script == 'ingest\nconsolidate --limit 3\nsearch "dome motor" --limit 2\nexpect raw == 1\n'
    assert [step.call.line() for step in parse_script(registry, script, "x")] == script.splitlines()
