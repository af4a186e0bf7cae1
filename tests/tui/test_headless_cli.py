"""The command line: one verb and out; data on stdout, talk on stderr, the right exit code."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from amgs_app.terminal.output import draws, has_screen
from tests.tui.headless_world import NOW, Amgs

ROOT = Path(__file__).parents[2]


def environment() -> dict[str, str]:
    paths = os.pathsep.join(str(ROOT / part) for part in ("core", "focus", ""))
    return {**os.environ, "PYTHONPATH": paths}


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "amgs_tui", "--model", "tiny", "--now", NOW, *arguments]


# --- what it does -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("command", [["status"], ["search", "dome"], ["verify"], ["consolidate"], ["undo"]])
def test_a_mistyped_store_is_an_error_and_is_not_made(amgs: Amgs, tmp_path: Path, command: list[str]) -> None:
    amgs.store = tmp_path / "new.duckdb"
    before = sorted(tmp_path.iterdir())
    assert amgs(*command) == 4
    assert f"There is no store at {amgs.store}" in amgs.err
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.parametrize("command", [["status"], ["ingest", "a note"], ["focus", "open", __file__]])
def test_a_folder_that_is_missing_is_named_and_not_made(amgs: Amgs, tmp_path: Path, command: list[str]) -> None:
    amgs.store = tmp_path / "deep" / "new.duckdb"
    assert amgs(*command) == 4
    assert str(tmp_path / "deep") in amgs.err
    assert not (tmp_path / "deep").exists()


def test_an_empty_memory_and_a_waiting_inbox_say_what_to_do(amgs: Amgs, tmp_path: Path) -> None:
    amgs.store = tmp_path / "new.duckdb"
    script = tmp_path / "looks.amgs"
    script.write_text("search dome\nstatus\nframe assemble SESSION --query dome\n")
    assert amgs("run", str(script)) == 0
    assert amgs.err.count("The memory is empty: `amgs ingest FOLDER`, then `amgs consolidate`.") == 3
    assert amgs("ingest", "The spare tyre is in the shed.") == 0
    assert amgs("search", "tyre", "--format", "json") == 0
    (hit,) = json.loads(amgs.out)["hits"]
    assert (hit["block"]["status"], hit["passage"]) == ("raw", "The spare tyre is in the shed.")
    assert [hit["passage"][start:end] for start, end in hit["matches"]] == ["tyre"]
    assert "1 block waits in the inbox, found by words alone: `amgs consolidate`" in amgs.err
    assert amgs("frame", "assemble", "INBOX") == 0 and "waits" not in amgs.err
    assert amgs("consolidate") == 0
    assert amgs("search", "tyre", "--format", "json") == 0
    assert len(json.loads(amgs.out)["hits"]) == 1 and amgs.err == ""


# --- bad input --------------------------------------------------------------------------------------------


def test_ctrl_c_stops_and_loses_nothing(amgs: Amgs, tmp_path: Path) -> None:
    script = tmp_path / "long.amgs"
    script.write_text(f'focus open "{amgs.corpus / "goat.md"}"\nfocus step 100000\n')
    settings = tmp_path / "settings.toml"
    settings.write_text("[focus]\nanswer_tokens = 1000000\n")
    running = subprocess.Popen(
        command("--store", str(amgs.store), "--settings", str(settings), "run", str(script)),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(),
    )
    assert running.stderr is not None
    said = ""
    while "focus step" not in said:
        said = running.stderr.readline()
        assert said, "the run ended before it was interrupted"
    running.send_signal(signal.SIGINT)
    rest = running.stderr.read()
    assert running.wait(30) == 130
    running.stderr.close()
    assert "Cancelled" in rest
    assert "long.amgs:2" in rest
    assert "Traceback" not in rest
    assert amgs("verify") == 0


def test_a_reader_that_leaves_early_is_no_fault() -> None:
    line = " ".join(f"'{word}'" for word in command("help", "--all"))
    done = subprocess.run(
        ["bash", "-c", f"{line} | head -n 1"], capture_output=True, text=True, env=environment(), check=False
    )
    assert done.returncode == 0
    assert done.stdout.startswith("command")
    assert done.stderr == ""


def test_a_path_where_a_text_is_asked_stands_for_the_folder_or_the_file(amgs: Amgs, tmp_path: Path) -> None:
    folder = tmp_path / "more"
    folder.mkdir()
    for name in ("one.md", "two.md"):
        (folder / name).write_text(f"# {name}\n\nThe lamp of {name} was lit.\n", encoding="utf-8")
    assert amgs("ingest", str(folder / "one.md"), "--format", "json") == 0
    assert len(json.loads(amgs.out)["added"]) == 1
    assert amgs("ingest", str(folder), "--format", "json") == 0
    assert len(json.loads(amgs.out)["added"]) == 1
    assert amgs("ingest", "neither/here nor/there", "--format", "json") == 0
    assert amgs("block", "find", "neither", "--format", "json") == 0
    assert json.loads(amgs.out)["blocks"][0]["content"] == "neither/here nor/there"


def test_one_word_limits_every_list_and_the_day_in_a_files_name_is_its_date(amgs: Amgs, tmp_path: Path) -> None:
    amgs.store = tmp_path / "new.duckdb"
    for name in ("2026-01-02-crew.md", "2026-13-41-crew.md"):
        (tmp_path / name).write_text(f"The crew of {name[5:7]} met at the crane.\n", encoding="utf-8")
        assert amgs("ingest", str(tmp_path / name)) == 0
    assert amgs("search", "crane", "--limit", "1", "--format", "json") == 0
    assert len(json.loads(amgs.out)["hits"]) == 1
    assert amgs("inbox", "list", "--limit", "9", "--format", "json") == 0
    days = {block["content"][12:14]: block["created_at"][:10] for block in json.loads(amgs.out)["blocks"]}
    assert days["01"] == "2026-01-02" and days["13"] != "2026-01-02"
    assert amgs("inbox", "list") == 0
    assert "2 raw blocks" in amgs.out


def test_a_check_that_differs_says_that_the_clock_ran(tmp_path: Path) -> None:
    script, store = tmp_path / "look.amgs", tmp_path / "s.duckdb"
    script.write_text("ingest 'The crane is idle.'\nsnapshot look\n", encoding="utf-8")
    line = [sys.executable, "-m", "amgs_tui", "--model", "tiny", "--store", str(store)]
    line += ["run", str(script), "--out", str(tmp_path / "pictures")]
    made = subprocess.run(line, capture_output=True, text=True, env=environment(), check=True)
    assert "--now" not in made.stderr
    (tmp_path / "pictures" / "look.json").write_text("{}", encoding="utf-8")
    differing = subprocess.run([*line, "--check"], capture_output=True, text=True, env=environment(), check=False)
    assert differing.returncode == 1
    assert "unless --now repeats the time of the snapshots" in differing.stderr


def test_a_terminal_that_cannot_be_drawn_on_is_written_on_as_a_pipe_is(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    for name in ("stdin", "stdout"):
        monkeypatch.setattr(sys, name, Terminal())
    monkeypatch.setenv("TERM", "xterm-256color")
    assert has_screen() and draws(sys.stdout)
    monkeypatch.setenv("TERM", "dumb")
    assert not has_screen() and not draws(sys.stdout)
