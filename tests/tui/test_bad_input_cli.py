"""What an operator can type wrong, and what a store on disk can be: one sentence, a way out, the right exit code,
and the store as it was.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tui.headless_world import Amgs, make, prepare


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepare(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def amgs(tmp_path: Path, capsys: pytest.CaptureFixture[str], prepared: Path) -> Amgs:
    return make(tmp_path, capsys, prepared)


def status(amgs: Amgs) -> object:
    assert amgs("status", "--format", "json") == 0
    return json.loads(amgs.out)["store"]["blocks"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["ingest", ""], 3, "empty"),
        (["ingest", "  \n\t"], 3, "empty"),
        (["ingest", "/no/such/folder"], 2, "no file or folder"),
        (["ingest", "notse.md"], 2, "no file or folder"),
        (["block", "show", "a"], 2, "'a'"),
        (["block", "show", "../../etc/passwd"], 2, "passwd"),
        (["block", "show", "'; DROP TABLE memory_blocks; --"], 2, "DROP"),
        (["block", "set", "goat.md", "--confidence", "1.5"], 2, "confidence"),
        (["block", "set", "goat.md", "--lambda", "-1"], 2, "--lambda"),
        (["block", "set", "goat.md", "--lambda", "inf"], 2, "finite"),
        (["block", "set", "goat.md", "--lambda", "nan"], 2, "--lambda"),
        (["block", "set", "goat.md", "--category", "two\nlines"], 2, "one line"),
        (["search", "x", "--top-k", "-1"], 2, "top-k"),
        (["search", "x", "--layer", "magic"], 2, "magic"),
        (["search", "x", "--weights", "nan,0,0,0,1"], 2, "sum to 1"),
        (["search", "x", "--weights", "inf,0,0,0,0"], 2, "sum to 1"),
        (["search", "x", "--weights=-1,2,0,0,0"], 2, "sum to 1"),
        (["search", "x", "--weights", "a,b,c,d,e"], 2, "five numbers"),
        (["frame", "assemble", "SESSION", "--budget", "0"], 2, "budget"),
        (["frame", "assemble", "SESSION", "--budget", "-5"], 2, "budget"),
        (["frame", "define", "A B", "--budget", "800"], 2, "name"),
        (["frame", "define", "SESION"], 2, "copy of ATTENTION"),
        (["frame", "define", "SESION", "--budget", "1024"], 2, "copy of ATTENTION"),
        (["frame", "assemble", "--composite"], 2, "NAME"),
        (["frame", "define", "LOOP", "--child", "LOOP"], 2, "contain"),
        (["frame", "define", "ODD", "--child", "NOWHERE"], 2, "NOWHERE"),
        (["frame", "define", "ODD", "--child", "SELF:2"], 2, "share"),
        (["frame", "define", "ODD", "--weights", "1,1,1,1,1"], 2, "sum to 1"),
        (["frame", "replay", "ffff"], 2, "ffff"),
        (["decay", "forecast", "--days", "inf"], 2, "days"),
        (["decay", "forecast", "--days", "nan"], 2, "days"),
        (["graph", "neighbours", "goat.md", "--hops", "-1"], 2, "hops"),
        (["block", "find", "--since", "9999-12-31T23:59:59-14:00"], 2, "beyond the calendar"),
        (["undo", "999999"], 2, "999999"),
        (["undo", "99999999999999999999999"], 2, "99999"),
        (["operations", "--limit", "0"], 2, "limit"),
        (["calibration", "table", "--bins", "0"], 2, "bins"),
        (["export", "no/such/folder/x.json"], 3, "x.json"),
        (["feedback", "useful", "goat.md"], 2, "forecast"),
        (["--seed", "x", "status"], 2, "seed"),
        (["--now", "2026-13-45", "status"], 2, "Invalid --now"),
    ],
)
def test_a_wrong_word_changes_nothing(amgs: Amgs, arguments: list[str], code: int, says: str) -> None:
    before = status(amgs)
    assert amgs(*arguments) == code, amgs.err
    assert says.lower() in amgs.err.lower()
    assert amgs.out == ""
    assert "Traceback" not in amgs.err
    assert len(amgs.err.splitlines()) <= 4
    assert status(amgs) == before
    assert amgs("verify") == 0


@pytest.mark.parametrize(
    "text",
    [
        "\x01 bell \x1b[31m red",
        "שלום \u202e right to left",
        "👩\u200d👧 a family",
        "```\nnever closed",
        "---\nfront: [never\n",
        "- -",
    ],
)
def test_strange_text_is_taken_in_shown_and_consolidated(amgs: Amgs, text: str) -> None:
    assert amgs("ingest", "--", text) == 0
    assert amgs("inbox", "list") == 0
    # What a terminal would obey is never written to one.
    assert "\x1b" not in amgs.out and "\x00" not in amgs.out
    assert amgs("consolidate") == 0
    assert amgs("search", "--", text) == 0
    assert amgs("verify") == 0


@pytest.mark.parametrize(
    "query", ["?!… --- ...", " ".join(["dome"] * 10_000), 'a:b OR "c', "'; DROP TABLE x"]
)
def test_any_query_is_answered(amgs: Amgs, query: str) -> None:
    assert amgs("search", "--format", "json", "--", query) == 0
    assert amgs("frame", "assemble", "SESSION", "--query", query, "--format", "json") == 0


STORES = {
    "text": (b"not a database at all, but long enough to be looked at " * 40, "not a DuckDB database"),
    "zeros": (b"\0" * 20_000, "not a DuckDB database"),
    "an image": (b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20, "not a DuckDB database"),
}


@pytest.mark.parametrize("kind", STORES)
def test_a_store_that_is_none_is_named_and_left_alone(amgs: Amgs, tmp_path: Path, kind: str) -> None:
    content, says = STORES[kind]
    amgs.store = tmp_path / "other.duckdb"
    amgs.store.write_bytes(content)
    assert amgs("status") == 4
    assert says in amgs.err and str(amgs.store) in amgs.err
    assert "move" not in amgs.err.lower()
    assert amgs.store.read_bytes() == content


@pytest.mark.parametrize("part", [0.1, 0.5])
def test_a_store_that_was_cut_short_is_named_and_left_alone(amgs: Amgs, part: float) -> None:
    whole = amgs.store.read_bytes()
    amgs.store.write_bytes(whole[: int(part * len(whole))])
    before = amgs.store.read_bytes()
    code = amgs("verify")
    assert code == 4, amgs.err
    assert "Traceback" not in amgs.err
    assert amgs.store.read_bytes() == before


def test_a_store_of_a_later_program_is_named(amgs: Amgs) -> None:
    import duckdb

    with duckdb.connect(str(amgs.store)) as connection:
        connection.execute("UPDATE meta SET value = '99' WHERE key = 'schema_version'")
    assert amgs("status") == 4
    assert "newer than this program" in amgs.err
    assert "Update the program" in amgs.err


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_store_that_may_not_be_written_says_so(amgs: Amgs) -> None:
    amgs.store.chmod(0o444)
    assert amgs("ingest", "a note") == 4
    assert "Check the write permissions" in amgs.err


def test_a_store_held_by_another_process_names_it_and_is_free_again(amgs: Amgs) -> None:
    code = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code, str(amgs.store)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None and holder.stdin is not None
        assert holder.stdout.readline() == b"held\n"
        assert amgs("ingest", "a note") == 4
        assert f"process {holder.pid}" in amgs.err
        assert "another store" in amgs.err
        holder.stdin.close()
    assert amgs("ingest", "a note") == 0


def test_a_damaged_export_is_refused_and_leaves_no_new_store(amgs: Amgs, tmp_path: Path) -> None:
    file = tmp_path / "m.json"
    assert amgs("export", str(file)) == 0
    text = file.read_text(encoding="utf-8")
    amgs.store = tmp_path / "new.duckdb"
    for content, code in (
        (text[: len(text) // 2], 3),
        (text.replace("goat", "boat"), 4),
        (text.replace('"consolidated"', '"eaten"'), 3),
        ("{}", 3),
        ("", 3),
    ):
        file.write_text(content, encoding="utf-8")
        assert amgs("import", str(file)) == code, amgs.err
        assert "Traceback" not in amgs.err
        assert code != 4 or "1 block of the file does not hash to its id" in amgs.err
        assert not list(amgs.store.parent.glob(f"{amgs.store.name}*"))
    file.write_text(text, encoding="utf-8")
    assert amgs("import", str(file)) == 0
    assert amgs("verify") == 0
