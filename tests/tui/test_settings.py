"""Settings: what is wrong is named with its key and where it stands, and the manual lists every one."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from amgs.errors import UsageError
from amgs_app.settings import every_setting, find_ignored, load_settings
from tests.tui.headless_world import Amgs

ROOT = Path(__file__).parents[2]


def written(folder: Path, text: str) -> Path:
    path = folder / "settings.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("[memory.decay]\nthreshold = nan", "memory.decay.threshold"),
        ("[memory.pruning]\nreinforcements = -1", "memory.pruning.reinforcements"),
        ("[memory.consolidation]\ninterval_minutes = inf", "memory.consolidation.interval_minutes"),
        ("[memory.decay.profiles]\ncore = -0.1", "memory.decay.profiles.core"),
        ("[memory.decay.profiles]\nephemeral = inf", "memory.decay.profiles.ephemeral"),
        ("[memory.decay.profiles]\ndurable = 0.5", "memory.decay.profiles"),
        ("memory = 3", "memory"),
        ("[model]\nprecision = 'bf8'", "model.precision"),
        ("[model]\nbase = ''", "model.base"),
        ("[focus]\nwindow = 'wide'", "focus.window"),
    ],
)
def test_a_wrong_value_is_named_with_its_key_and_file(tmp_path: Path, text: str, key: str) -> None:
    file = written(tmp_path, text)
    with pytest.raises(UsageError) as raised:
        load_settings(file)
    assert key in raised.value.message
    assert str(file) in raised.value.message
    assert raised.value.way_out


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[memory.decay]\nthreshhold = 0.1", "did you mean memory.decay.threshold?"),
        ("[memry]\nx = 1", "did you mean memory?"),
        ("[focus]\nprecision = 'fp32'", "did you mean model.precision?"),
        ("[focus]\nzzzzz = 1", "focus.zzzzz ("),
    ],
)
def test_an_unknown_setting_is_told_with_the_one_that_was_meant(tmp_path: Path, text: str, says: str) -> None:
    file = written(tmp_path, text)
    load_settings(file)
    (line,) = find_ignored(file)
    assert "is ignored: there is no such setting" in line and says in line


@pytest.mark.parametrize(
    ("name", "value"), [("AMGS_MEMRY__DECAY__THRESHOLD", "0.1"), ("AMGS_MEMORY", "half"), ("AMGS_X", "1")]
)
def test_a_variable_that_sets_nothing_is_no_silence(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=r"memory|AMGS_") as raised:
        load_settings()
    assert raised.value.title == "Invalid setting"
    assert not re.search("Input should|unable to parse|Value error", str(raised.value))


def test_a_choice_and_a_section_are_read_from_their_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AMGS_FOCUS__UNASKED", "thresholds")
    monkeypatch.setenv("AMGS_MEMORY__DECAY", '{"threshold": 0.2, "profiles": {"core": 0.0}}')
    monkeypatch.setenv("amgs_memory__decay__threshold", "0.3")
    found = load_settings()
    assert (found.focus.unasked, found.memory.decay.threshold) == ("thresholds", 0.3)
    assert found.memory.decay.profiles.core == 0.0
    monkeypatch.setenv("AMGS_MEMORY__DECAY", "half")
    with pytest.raises(UsageError, match="AMGS_MEMORY__DECAY=half"):
        load_settings()


def test_each_setting_says_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = written(tmp_path, "[memory.decay]\nthreshold = 0.5\n[focus]\nwindow = 256")
    monkeypatch.setenv("AMGS_FOCUS__WINDOW", "384")
    monkeypatch.setenv("AMGS_CACHE", "off")
    found = {each.key: each for each in every_setting(file)}
    assert (found["memory.decay.threshold"].value, found["memory.decay.threshold"].place) == (0.5, str(file))
    assert (found["focus.window"].value, found["focus.window"].place) == (384, "AMGS_FOCUS__WINDOW")
    assert (found["paths.cache"].value, found["paths.cache"].place) == ("off", "AMGS_CACHE")
    assert found["focus.cadence"].place == ""


def test_the_manual_lists_every_setting_with_its_default_and_sentence() -> None:
    manual = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    rows = [f"| `{each.key}` | `{json.dumps(each.default)}` | {each.description} |" for each in every_setting()]
    head = "| key | default | what it is |\n| --- | --- | --- |\n"
    tables = re.findall(rf"^### .+\n\n{re.escape(head)}((?:\|.*\n)+)", manual, flags=re.M)
    written = [table.splitlines() for table in tables]
    sections = dict.fromkeys(each.key.split(".")[0] for each in every_setting())
    assert written == [[row for row in rows if row.startswith(f"| `{name}.")] for name in sections]
    assert manual.count("| `forgetting.") == sum(each.key.startswith("forgetting.") for each in every_setting())
    assert all(each.description for each in every_setting())


def test_a_key_that_is_gone_is_ignored_with_a_line_and_the_rest_holds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, amgs: Amgs
) -> None:
    text = "[memory.enhancement]\nnearest = 9\n[memory.decay]\nthreshold = 0.5\n[paths]\nindex = 's3://bucket/x'\n"
    file = written(tmp_path, f"{text}[focus]\nlens = 'search'\nblock_size = 8")
    monkeypatch.setenv("AMGS_MEMORY__GRAPH__TTL_SECONDS", "never")
    found = load_settings(file)
    assert (found.memory.decay.threshold, found.focus.lens, found.focus.block_size) == (0.5, "search", 32)
    assert not any(each.key.startswith("memory.enhancement") for each in every_setting(file))
    lines = find_ignored(file)
    keys = ("memory.enhancement", "memory.graph.ttl_seconds", "paths.index", "focus.block_size")
    assert len(lines) == len(keys)
    for key in keys:
        place = "AMGS_MEMORY__GRAPH__TTL_SECONDS" if key.endswith("ttl_seconds") else str(file)
        told = f"The setting {key} ({place}) is ignored: there is no such setting"
        assert any(line.startswith(told) for line in lines)
    assert amgs("status", "--settings", str(file)) == 0
    assert [line for line in amgs.err.splitlines() if "ignored" in line] == list(lines)


def test_settings_that_are_set_stand_in_the_file_beside_its_comments(amgs: Amgs, tmp_path: Path) -> None:
    file = written(tmp_path, "# mine\n[memory.decay]\nthreshold = 0.1 # low\n")
    assert amgs("--settings", str(file), "settings", "memory.decay.threshold=.2", "screen.symbols=ascii") == 0
    assert "screen.symbols" in amgs.out and "memory.decay.profiles" not in amgs.out
    assert file.read_text(encoding="utf-8").startswith("# mine\n[memory.decay]\nthreshold = 0.2 # low\n")
    settings = load_settings(file)
    assert (settings.memory.decay.threshold, settings.screen.symbols) == (0.2, "ascii")
    before = file.read_bytes()
    for pair, says in {
        "memory.decay.treshold=1": "did you mean memory.decay.threshold?",
        "memory.decay.threshold.x=1": "there is no such setting",
        "memory.decay.threshold=7": "takes a number above 0 below 1, not '7'",
        "memory.decay.profiles.durable=.5": "memory.decay.profiles: each of ephemeral, standard, ",
        "screen.symbols=runes": "takes one of auto, braille, block, ascii, not 'runes'",
        "memory.decay=1": "memory.decay is a section: set a key in it",
    }.items():
        assert amgs("--settings", str(file), "settings", "model.device=cuda", pair) == 2
        assert says in amgs.err
    assert file.read_bytes() == before, "one that is wrong keeps the others out"
    assert amgs("--settings", str(file), "settings", "set", "memory.decay.threshold=default") == 0
    assert load_settings(file).memory.decay.threshold == 0.05


def test_a_linked_settings_file_stays_a_link_and_keeps_its_mode(amgs: Amgs, tmp_path: Path) -> None:
    target = tmp_path / "dotfiles.toml"
    target.write_text("", encoding="utf-8")
    target.chmod(0o600)
    link = tmp_path / "settings.toml"
    link.symlink_to(target)
    assert amgs("--settings", str(link), "settings", "screen.symbols=ascii") == 0
    assert link.is_symlink() and "ascii" in target.read_text(encoding="utf-8")
    assert target.stat().st_mode & 0o777 == 0o600


def test_a_file_that_is_wrong_is_mended_by_the_command_that_its_error_names(amgs: Amgs, tmp_path: Path) -> None:
    wrong = "# mine\n[memory.decay]\nthreshold = 'low'\ntreshold = 1\n[forgetting.half_lives]\n'a.b' = -5\n"
    file = written(tmp_path, wrong)
    assert amgs("--settings", str(file), "status") == 2
    said = amgs.err.splitlines()
    assert f"memory.decay.threshold takes a number above 0 below 1, not 'low' ({file})." in said[0]
    assert "forgetting.half_lives.a.b takes more than 0" in said[0]
    keys = "memory.decay.threshold=default forgetting.half_lives.a.b=default"
    command = f"amgs --settings {file} settings {keys}"
    assert said[1] == f"Correct {file}, or take it out: `{command}`."
    assert amgs("--settings", str(file), "settings", "memory.decay.threshold=.2") == 2
    assert "half_lives" in amgs.err, "what stays wrong keeps the change out"
    assert file.read_text(encoding="utf-8") == wrong
    assert amgs(*command.split()[1:], "memory.decay.treshold=default") == 0
    assert find_ignored(file) == ()
    assert load_settings(file).memory.decay.threshold == 0.05
    file.write_text("memory = 3\n", encoding="utf-8")
    assert amgs("--settings", str(file), "settings", "memory.decay.threshold=.2") == 2
    assert "memory is a section" in amgs.err
    assert amgs("--settings", str(file), "settings", "memory=default", "memory.decay.threshold=.2") == 0


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"[memory]\n[focus\nwindow = 1\n", "line 2: expected ']'"),
        (b"[focus]\nwindow = 256\n\nwindow = 384", "line 4: it gives a value that was given before"),
        (b"[focus]\n[model]\n[focus]\n", "line 3: its table was begun before"),
        (b"\x00\xff\xfe", "is not UTF-8 (byte 1)"),
        (None, "cannot be read: No such file or directory."),
    ],
)
def test_a_file_that_is_no_toml_is_refused_with_its_line(
    amgs: Amgs, tmp_path: Path, content: bytes | None, says: str
) -> None:
    file = tmp_path / "settings.toml"
    if content is not None:
        file.write_bytes(content)
    assert amgs("--settings", str(file), "status") == 2
    assert says in amgs.err and amgs.err.count(str(file)) == 1
    assert "codec" not in amgs.err
    if content is not None:
        assert amgs("--settings", str(file), "settings", "focus.window=256") == 2
        assert says in amgs.err and file.read_bytes() == content


@pytest.mark.parametrize(
    ("key", "value", "says"),
    [
        ("model.server", "notaurl", "takes an address such as http://127.0.0.1:8000/v1#NAME"),
        ("model.server", "http://KEY@host/v1", "takes an address such as http://127.0.0.1:8000/v1#NAME, without a key"),
        ("model.device", "tpu", "takes cpu, cuda or cuda:N, not 'tpu'"),
        ("model.base", "nosuch", "takes smollm2, tiny, the path of a model"),
        ("model.adapter", "/no/such", "takes the path of a file that is there"),
        ("screen.theme", "nope", "takes one of observatory, contrast"),
        ("paths.data", __file__, "takes the path of a folder"),
        ("memory.time_zone", "Mars/Phobos", "takes the name of a time zone, such as Europe/Berlin"),
        ("forgetting.half_lives.log", "-5", "takes more than 0"),
        ("memory.retrieval.searches", "9" * 25, "takes a number of 1,000,000,000,000 at most"),
        ("memory.consolidation.interval_minutes", "1e308", "takes a number above 0 of 5256000 or less"),
    ],
)
def test_a_text_of_a_known_form_is_refused_where_it_is_set_and_where_it_is_read(
    amgs: Amgs, tmp_path: Path, key: str, value: str, says: str
) -> None:
    file = written(tmp_path, "")
    assert amgs("--settings", str(file), "settings", f"{key}={value}") == 2
    assert f"{key} {says}" in amgs.err and "KEY" not in amgs.err
    assert file.read_bytes() == b""
    section, _, name = key.rpartition(".")
    literal = value if re.fullmatch(r"-?\d[\de]*", value) else repr(value)
    file.write_text(f"[{section}]\n{name} = {literal}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=re.escape(f"{key} {says}")):
        load_settings(file)


def test_an_entry_of_a_table_is_set_by_its_name_and_no_key_twice(amgs: Amgs, tmp_path: Path) -> None:
    file = written(tmp_path, "")
    assert amgs("--settings", str(file), "settings", "screen.keys.focus.step=x", "forgetting.half_lives.log=9") == 0
    settings = load_settings(file)
    assert (settings.screen.keys, settings.forgetting.half_lives) == ({"focus.step": "x"}, {"log": 9})
    assert amgs("--settings", str(file), "settings", "focus.window=256", "focus.window=384") == 2
    assert "focus.window is set twice" in amgs.err
    assert amgs("--settings", str(file), "settings", "screen.keys={}") == 2
    assert "set an entry in it" in amgs.err
