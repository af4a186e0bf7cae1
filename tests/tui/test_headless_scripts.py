"""Scripts: errors carry script, line and column; snapshots are the same bytes; a check shows what differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs_app.operations.standard import standard
from amgs_app.session.snapshot_target import read_size
from amgs_app.shell.script import ScriptError, parse_script
from tests.tui.headless_world import Amgs, make, prepare

TOUR = """# a small tour
inbox list
search "dome stall" --top-k 2
snapshot search
frame assemble SESSION --query "why did the dome stall?"
expect frame.selected >= 1
snapshot frame
select motor.md
show graph
snapshot graph
show decay
snapshot decay
frame open
focus step 12
expect focus.step == 12
snapshot focus
focus why 0
snapshot why
feedback useful motor.md
show calibration
snapshot calibration
show inbox
snapshot inbox
show overview
snapshot overview
"""
NAMES = ("search", "frame", "graph", "decay", "focus", "why", "calibration", "inbox", "overview")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def amgs(tmp_path: Path, prepared: Path, capsys: pytest.CaptureFixture[str]) -> Amgs:
    return make(tmp_path, capsys, prepared)


def write(tmp_path: Path, text: str) -> str:
    path = tmp_path / "script.amgs"
    path.write_text(text, encoding="utf-8")
    return str(path)


@pytest.mark.parametrize(
    ("text", "place", "pointed"),
    [
        ("status\n\nfrme list\n", ":3:1", "^"),
        ("status\n  frame asemble SESSION\n", ":2:9", "        ^"),
        ("search dome --top-k many\n", ":1:21", " " * 20 + "^"),
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


def test_a_verb_that_fails_stops_the_script_with_its_own_code(amgs: Amgs, tmp_path: Path) -> None:
    script = write(tmp_path, "graph stats\ningest --batch no/such/folder\nstatus\n")
    assert amgs("run", script) == 3
    assert f"{script}:2:1: " in amgs.err
    assert "no/such/folder" in amgs.err
    assert "692" not in amgs.out
    assert "schema" not in amgs.out


def test_an_expectation_that_fails_says_what_was_found(amgs: Amgs, tmp_path: Path) -> None:
    script = write(tmp_path, "expect blocks == 4\nexpect raw >= 1\n")
    assert amgs("run", script) == 1
    assert ":2:1" in amgs.err
    assert "raw is 0, expected >= 1" in amgs.err


def test_a_script_that_is_not_utf8_is_refused(amgs: Amgs, tmp_path: Path) -> None:
    path = tmp_path / "script.amgs"
    path.write_bytes(b"search caf\xe9\n")
    assert amgs("run", str(path)) == 3
    assert "byte 10" in amgs.err


def test_snapshots_need_a_folder_that_is_named(amgs: Amgs, tmp_path: Path) -> None:
    script = write(tmp_path, "status\nsnapshot x\n")
    assert amgs("run", script) == 2
    assert "--out DIR" in amgs.err
    assert amgs("run", script, "--check") == 2


def test_two_runs_give_the_same_bytes(
    tmp_path: Path, prepared: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = write(tmp_path, TOUR)
    made: list[dict[str, bytes]] = []
    for number in range(2):
        folder = tmp_path / str(number)
        folder.mkdir()
        amgs = make(folder, capsys, prepared)
        assert amgs("run", script, "--out", str(folder / "out")) == 0, amgs.err
        made.append({path.name: path.read_bytes() for path in sorted((folder / "out").iterdir())})
    assert made[0] == made[1]
    assert set(made[0]) == {f"{name}.{ending}" for name in NAMES for ending in ("txt", "svg", "json")}


def test_figures_have_the_size_that_was_asked_for(amgs: Amgs, tmp_path: Path) -> None:
    script = write(tmp_path, "graph stats\nsnapshot stats\n")
    assert amgs("run", script, "--out", str(tmp_path / "out"), "--size", "72x18") == 0
    lines = (tmp_path / "out" / "stats.txt").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 18
    assert max(map(len, lines)) <= 72
    svg = (tmp_path / "out" / "stats.svg").read_text(encoding="utf-8")
    assert svg.startswith("<svg")
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")


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
    from amgs_app.session.operator import Operator

    registry = standard()
    with Operator(Engine(Options(store=":memory:", corpus=amgs.corpus, model="tiny"))) as session:
        for line in ("ingest", "consolidate --limit 3", "search 'dome motor' --top-k=2", "expect raw == 1"):
            call = registry.parse(line)
            assert call is not None
            session.run(call)
        call = registry.call("save", file=tmp_path / "again.amgs")
        assert session.run(call).lines == 4
    script = (tmp_path / "again.amgs").read_text(encoding="utf-8")
    assert script == 'ingest\nconsolidate --limit 3\nsearch "dome motor" --limit 2\nexpect raw == 1\n'
    assert [step.call.line() for step in parse_script(registry, script, "x")] == script.splitlines()


def test_the_steps_of_a_run_can_be_replayed_from_its_trace(amgs: Amgs, tmp_path: Path) -> None:
    from amgs.clock import FixedClock, parse_instant
    from amgs.text.embedding import HashingEmbedder
    from amgs_app.models.choice import focus_runtime, load_base_model, text_encoder
    from amgs_focus.runtime.replay import replay
    from amgs_focus.settings import FocusSettings
    from amgs_focus.trace.trace import read

    frame = "frame assemble SESSION --query 'why did the dome stall?'\nframe open\n"
    script = write(tmp_path, f"{frame}focus step 40\nfocus back 5\nfocus refocus\nfocus step 3\n")
    assert amgs("run", script) == 0, amgs.err
    trace = read(amgs.store.with_name("world.duckdb.trace"))
    clock = FixedClock(parse_instant("2026-03-01T09:00:00Z"))
    encoder = text_encoder("tiny", HashingEmbedder())
    runtime, _ = focus_runtime(load_base_model("tiny", "auto"), FocusSettings(), 7, clock, encoder=encoder)
    assert replay(trace, runtime) == len(trace.steps) == 43
    assert runtime.snapshot().step == 38


def test_an_opening_that_is_cancelled_leaves_what_was_open(amgs: Amgs) -> None:
    from amgs.errors import Cancelled
    from amgs.types import Progress
    from amgs_app.engine import Engine, Options
    from amgs_app.session.operator import Operator

    registry = standard()
    with Operator(Engine(Options(store=str(amgs.store), corpus=amgs.corpus, model="tiny"))) as session:
        before = session.run(registry.call("focus open", question="Why?")).view
        stopped = Progress()
        stopped.cancel()
        with pytest.raises(Cancelled):
            session.run(registry.call("focus open", question="Who?"), stopped)
        assert session.engine.focus.snapshot() == before
        assert len(session.run(registry.call("focus step", count=2)).records) == 2
    assert sorted(path.name for path in amgs.store.parent.glob("*.trace*")) == ["world.duckdb.trace"]


@pytest.mark.parametrize("text", ["120", "0x0", "axb", "120x", "-3x40", "10x3"])
def test_sizes_that_hold_no_picture_are_refused(text: str) -> None:
    with pytest.raises(Exception, match="Invalid size"):
        read_size(text)


def test_script_errors_keep_tabs_in_column() -> None:
    with pytest.raises(ScriptError) as caught:
        parse_script(standard(), "\tsearch\tdome\tmotor", "s")
    assert caught.value.place == "s:1:14"
    assert caught.value.pointer.split("\n")[1].index("^") - 4 == 13
