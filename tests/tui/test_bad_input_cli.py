"""What an operator can type wrong, and what a store on disk can be: one sentence, a way out, the right exit code,
and the store as it was.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tui.headless_world import Amgs


def status(amgs: Amgs) -> object:
    assert amgs("status", "--format", "json") == 0
    return json.loads(amgs.out)["store"]["blocks"]


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["ingest", ""], 3, "empty"),
        (["search"], 2, "Missing argument 'QUERY'"),
        (["search", "x", "--limit", "many"], 2, "--limit"),
        (["search", "x", "--format", "xml"], 2, "table, json, csv"),
        (["--now", "yesterday", "status"], 2, "Invalid --now"),
        (["frame", "assemble", "NOWHERE"], 2, "NOWHERE"),
        (["frame", "assemble", "--composite", "SELF"], 2, "not a composite frame"),
        (["frame", "open"], 2, "frame assemble SESSION"),
        (["block", "show"], 2, "No block is selected"),
        (["graph", "neighbours", "@1"], 2, "@1 is not among"),
        (["ingest", "--batch", "no/such/folder"], 3, "no/such/folder"),
        (["ingest", "--file", "no/such/note.md"], 3, "note.md"),
        (["ingest", "text", "--file", "x.md"], 2, "exclude each other"),
        (["calibration", "table", "--by", "frame"], 2, "--value"),
        (["expect", "raw", ">", "100"], 1, "raw is 0"),
        (["expect", "rawness", ">", "1"], 2, "Available: blocks"),
        (["theme", "no-such-theme"], 2, "no-such-theme"),
        (["--settings", "no/such.toml", "status"], 2, "no/such.toml"),
        (["--corpus", "no/such/corpus", "status"], 3, "no/such/corpus"),
        (["run", "no/such.amgs"], 3, "no/such.amgs"),
        (["focus", "open", "no/such.txt"], 3, "no/such.txt"),
        (["ingest", "  \n\t"], 3, "empty"),
        (["ingest", "/no/such/folder"], 2, "no file or folder"),
        (["ingest", "notse.md"], 2, "no file or folder"),
        (["block", "show", "a"], 2, "'a'"),
        (["block", "show", "../../etc/passwd"], 2, "passwd"),
        (["block", "show", "'; DROP TABLE memory_blocks; --"], 2, "DROP"),
        (["block", "set", "goat.md", "--confidence", "1.5"], 2, "confidence"),
        (["block", "set", "goat.md", "--lambda", "-1"], 2, "--lambda"),
        (["block", "set", "goat.md", "--lambda", "inf"], 2, "number"),
        (["block", "set", "goat.md", "--lambda", "nan"], 2, "--lambda"),
        (["block", "set", "goat.md", "--category", "two\nlines"], 2, "one line"),
        (
            ["block", "set", "goat.md", "--category", "fatc"],
            2,
            "Did you mean fact? A new category has to be allowed. `--new`",
        ),
        (["block", "find", "--category", "qqqq"], 2, "no category 'qqqq'.\nAvailable: "),
        (["ingest", "--batch", ""], 2, "--batch takes a path"),
        (["ingest", "--sync", "nodir"], 2, "no file or folder nodir"),
        (["conversation", "add", "c", ""], 2, "FILE takes a path"),
        (["search", "  "], 2, "needs words"),
        (["search", "x", "--category", "fatc"], 2, "Did you mean fact?\n"),
        (["search", "x", "--limit", "-1"], 2, "limit"),
        (["search", "x", "--layer", "magic"], 2, "magic"),
        (["search", "x", "--weights", "nan,0,0,0,1"], 2, "sum to 1"),
        (["search", "x", "--weights", "inf,0,0,0,0"], 2, "sum to 1"),
        (["search", "x", "--weights=-1,2,0,0,0"], 2, "sum to 1"),
        (["search", "x", "--weights", "a,b,c,d,e"], 2, "five numbers"),
        (["frame", "assemble", "SESSION", "--budget", "0"], 2, "budget"),
        (["frame", "assemble", "SESSION", "--budget", "-5"], 2, "budget"),
        (["frame", "define", "A B", "budget=800"], 2, "name"),
        (["frame", "define", "SESION"], 2, "copy of ATTENTION"),
        (["frame", "define", "SESION", "budget=1024"], 2, "copy of ATTENTION"),
        (["frame", "define", "LOOP", "child=LOOP"], 2, "contain"),
        (["frame", "define", "ODD", "child=NOWHERE"], 2, "NOWHERE"),
        (["frame", "define", "ODD", "child=SELF:2"], 2, "share"),
        (["frame", "define", "ODD", "weights=1,1,1,1,1"], 2, "sum to 1"),
        (["frame", "define", "ODD", "weights.recency=nan"], 2, "cannot be weights"),
        (["frame", "define", "ODD", "weights.recency="], 2, "cannot be weights"),
        (["frame", "define", "ODD", "weights.recency=2"], 2, "cannot be weights"),
        (["frame", "define", "ODD", "weights.recency=.8", "weights.centrality=.8"], 2, "cannot be weights"),
        (["frame", "define", "ODD", "category=fact", "category=nope"], 2, "no category 'nope'"),
        (["frame", "define", "ODD", "without=nope"], 2, "no category 'nope'"),
        (["frame", "define", "ODD", "status=foo"], 2, "no status 'foo'"),
        (["frame", "define", "ODD", "meta=foo"], 2, "For example kind=dialogue"),
        (["decay", "forecast", "--days", "inf"], 2, "days"),
        (["decay", "forecast", "--days", "nan"], 2, "days"),
        (["graph", "neighbours", "goat.md", "--hops", "-1"], 2, "hops"),
        (["block", "find", "--since", "9999-12-31T23:59:59-14:00"], 2, "beyond the calendar"),
        (["undo", "999999"], 2, "999999"),
        (["undo", "99999999999999999999999"], 2, "too large"),
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


def test_the_end_of_a_name_says_how_an_export_is_written(amgs: Amgs, tmp_path: Path) -> None:
    for name, begins in (("m.graphml", "<?xml"), ("m.json", "{"), ("m.txt", "{")):
        assert amgs("export", str(tmp_path / name)) == 0, amgs.err
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(begins)


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


def test_a_new_category_is_allowed_by_name_and_known_from_then_on(amgs: Amgs) -> None:
    assert amgs("block", "set", "goat.md", "--category", "task", "--category", "recipe", "--new") == 0
    assert "is now task and recipe" in amgs.out
    assert amgs("search", "goat", "--category", "recipe") == 0
    assert "goat.md" in amgs.out


def test_deleting_a_frame_says_what_that_did(amgs: Amgs) -> None:
    assert amgs("frame", "delete", "ATTENTION") == 0
    assert amgs.out == "Nothing to delete: ATTENTION ships with the program and is as it shipped.\n"
    assert amgs("frame", "define", "ATTENTION", "budget=99") == 0
    assert amgs("frame", "delete", "attention") == 0
    assert amgs.out.startswith("ATTENTION is as it shipped again.\n")
    assert amgs("frame", "define", "MINE", "budget=99") == 0
    assert amgs("frame", "delete", "MINE") == 0
    assert amgs.out == "MINE is deleted.\n"


def test_help_breaks_no_word_of_a_list_of_choices(amgs: Amgs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for command, choices in (("feedback", "useful useless answered"), ("show", "calibration overview conversation")):
        assert amgs(command, "--help") == 0
        assert set(choices.split()) <= set(amgs.out.replace("<", " ").replace(">", " ").split())
