"""The command line as a newcomer meets it: which store, whose clock, what help and completion say."""

from __future__ import annotations

from pathlib import Path

import pytest

from amgs_app import cli
from amgs_app.calls.registry import standard

NOW = "2026-03-01T09:00:00Z"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path / "data" / "amgs"


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "attic.md").write_text("# Attic\n\nThe router in the attic drops packets when it rains.\n")
    return folder


def run(*arguments: str) -> int:
    return cli.run(["--model", "tiny", *arguments])


def script(folder: Path, text: str) -> Path:
    path = folder / "script.amgs"
    path.write_text(text)
    return path


# --- which store ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("refused", [("import", "/etc/passwd"), ("ingest", "--file", "/etc"), ("ingest", " ")])
def test_a_refused_import_or_ingest_leaves_no_new_store(
    home: Path, notes: Path, tmp_path: Path, refused: tuple[str, ...]
) -> None:
    assert run("--store", str(tmp_path / "new.duckdb"), *refused) == 3
    assert not list(tmp_path.glob("new.duckdb*"))
    assert run(*refused) == 3
    assert not list(home.glob("*.duckdb*"))
    assert run("ingest", "--batch", str(notes)) == 0
    assert run(*refused) in (2, 3)
    assert [path.name for path in home.glob("*.duckdb")] == ["memory.duckdb"]


# --- the sample's clock -----------------------------------------------------------------------------------


# --- errors -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["--model", "nosuchmodel", "status"], 5, "nosuchmodel"),
        (["--model", "nobody/nothing", "status"], 5, "nobody/nothing"),
        (["--theme", "purple", "status"], 2, "purple"),
        (["forcast"], 2, "Did you mean 'decay forecast'"),
        (["serch", "x"], 2, "Did you mean 'search'"),
        (["focus", "stp"], 2, "Did you mean 'step'?"),
        (["edge", "add", "a", "b"], 2, "`edge add` is now `edge set`."),
        (["edge", "set", "a", "b", "--weight", "nan"], 2, "--weight takes a number."),
        (["search", "x", "--top-k", "3"], 2, "There is no option --top-k. Did you mean --limit?"),
        (["search", "x", "--frobnicate"], 2, "There is no option --frobnicate.\n"),
        (["qqqqqq"], 2, "There is no command 'qqqqqq'.\n"),
        (["pack", "qqqqqq"], 2, "There is no command 'qqqqqq'. One of: keep, list, assemble, outcome, change.\n"),
        (["secrets"], 2, "`secrets` needs another word. One of: scan.\n"),
    ],
)
def test_what_is_not_there_is_an_error(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, says: str
) -> None:
    assert run(*arguments) == code
    out, err = capsys.readouterr()
    assert says in err
    assert out == ""


# --- a run in CI ------------------------------------------------------------------------------------------


def test_a_check_of_another_store_prints_only_what_differs(
    tmp_path: Path, notes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    steps = script(tmp_path, "ingest\nstatus\nsnapshot whole\ninbox list\nsnapshot inbox\n")
    everywhere = ["--corpus", str(notes), "--now", NOW]
    line = ["run", str(steps), "--out", str(tmp_path / "out")]
    assert run("--store", str(tmp_path / "a.duckdb"), *everywhere, *line) == 0
    capsys.readouterr()
    assert run("--store", str(tmp_path / "b.duckdb"), *everywhere, *line, "--check") == 0
    assert capsys.readouterr().out == "2 same\n"
    (tmp_path / "out" / "inbox.txt").write_text("something else\n")
    assert run("--store", str(tmp_path / "c.duckdb"), *everywhere, *line, "--check") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert "1 same, 1 differs: inbox" in err
    assert run("--store", str(tmp_path / "d.duckdb"), *everywhere, *line, "--check", "--quiet") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("amgs: Snapshots differ: 1 same, 1 differs: inbox\n")


# --- help and completion ----------------------------------------------------------------------------------


def test_the_man_page_names_every_command_and_option() -> None:
    from scripts.manual import page

    said = page().replace("\\-", "-")
    assert all(f"\\fB{verb.usage()}" in said for verb in standard())
    assert all(f"--{name}" in said for name in ("store", "corpus", "now", "format"))
    assert not [line for line in page().splitlines() if line.startswith("'")]


# --- output -----------------------------------------------------------------------------------------------


@pytest.fixture
def found(home: Path, tmp_path: Path) -> list[str]:
    """A consolidated store of one long note, and the options that name it."""
    folder = tmp_path / "long"
    folder.mkdir()
    before = "The summer was long and nothing of note happened in the valley. " * 12
    text = f"{before}In May the dome stalled at azimuth 214 with error E-17. {before}"
    (folder / "a very long name of a note about the dome that no table of 120 columns has room for.md").write_text(text)
    options = ["--store", str(tmp_path / "long.duckdb"), "--corpus", str(folder), "--now", NOW]
    assert run(*options, "ingest") == 0
    assert run(*options, "consolidate") == 0
    return options


def test_piped_tables_are_whole_and_a_search_shows_the_passage_and_its_source(
    found: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(*found, "search", "why did the dome stall?") == 0
    said = capsys.readouterr().out
    assert "«dome» «stalled» at azimuth 214" in said
    assert "that no table of 120 columns has room for.md" in said
    assert "recency" in said
    assert run(*found, "frame", "list") == 0
    assert "…" not in capsys.readouterr().out


def test_marked_words_stand_in_view_under_their_row_however_narrow_the_terminal() -> None:
    from amgs_app.render.sheet import Marked, sheet, to_csv, to_lines

    runs = (("it went on as ever, " * 12 + "until the ", False), ("dome", True), (" stalled" + " and" * 90, False))
    made = sheet("", "#:n title* state~ passage/", [(1, "The dome", "", Marked(runs))])
    for width in (40, 80, 1000):
        head, row, *below = (line.plain for line in to_lines(made, width, marks=True))
        assert head.split() == ["#", "title"]
        assert row.split() == ["1", "The", "dome"]
        assert len(below) <= 2
        assert "«dome» stalled" in " ".join(line.strip() for line in below)
        assert all(len(line) <= width for line in below)
    assert "passage" in to_csv(made).splitlines()[0]
    assert "«" not in to_csv(made)


def test_a_store_that_is_opened_read_only_is_read_and_keeps_its_bytes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "m.duckdb"
    here = ("--store", str(store))
    assert run(*here, "run", str(script(tmp_path, 'ingest "The pump is oiled in May."\nconsolidate'))) == 0
    before = store.read_bytes()
    capsys.readouterr()
    assert run(*here, "--read-only", "search", "pump") == 0
    assert "oiled in May" in capsys.readouterr().out
    assert run(*here, "frame", "assemble", "SESSION", "--query", "pump", "--read-only") == 0
    assert run(*here, "--read-only", "ingest", "The pump leaks.") == 4
    assert "for reading only" in capsys.readouterr().err
    assert store.read_bytes() == before
    assert run("--store", str(tmp_path / "none.duckdb"), "--read-only", "status") == 4
    assert run("--read-only", "serve") == 2
