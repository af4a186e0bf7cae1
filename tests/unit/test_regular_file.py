"""Texts in files: whatever lies at a path is a text, or is refused in a sentence that holds no library's words."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from amgs.errors import InputError
from amgs.incoming import LARGEST, read_text, read_toml, say_json_fault


def test_a_text_is_read_with_the_mark_that_editors_put_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfvalve = 1\r\n")
    assert read_text(path, "") == "valve = 1\r\n"
    assert read_toml(path, "") == {"valve": 1}


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("missing", "cannot be read: No such file or directory."),
        ("", "cannot be read: Is a directory."),
        ("a.txt/b", "cannot be read: Not a directory."),
        ("loop", "cannot be read: Too many levels of symbolic links."),
        ("n" * 300, "cannot be read: File name too long."),
        ("a\0b", "cannot be read: its name holds a null byte."),
        ("binary", "is not UTF-8 (byte 1)."),
        ("/dev/zero", f"holds more than {LARGEST // 2**20} MiB."),
    ],
)
def test_what_is_no_text_is_refused_in_one_sentence_that_names_it_once(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "a.txt").write_text("text", encoding="utf-8")
    (tmp_path / "binary").write_bytes(b"\x00\xff\xfe")
    (tmp_path / "loop").symlink_to("loop")
    path = tmp_path / name
    with pytest.raises(InputError) as raised:
        read_text(path, "Give a text file.")
    assert raised.value.message == f"{path} {says}"
    assert raised.value.way_out == "Give a text file."


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("{", "it is not whole JSON (line 1, column 2)"),
        ('[1,\n"a"\n2]', "it is not whole JSON (line 3, column 1)"),
        ("[" * 100_000, "it is nested too deeply"),
        ("1" * 5_000, "a number in it is too long"),
    ],
)
def test_a_text_that_is_no_json_is_told_by_its_place(text: str, says: str) -> None:
    try:
        json.loads(text)
    except (ValueError, RecursionError) as error:
        assert say_json_fault(error) == says
    else:
        pytest.fail("it was JSON")


@pytest.mark.parametrize(
    ("text", "line"), [("a = 1\nb =", 2), ("a = 1\n\na = 2\n", 3), ("[a]\n[b]\n[a]\n", 3), ("a = '''\n\n", 1)]
)
def test_a_text_that_is_no_toml_is_told_by_its_line(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "a.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=re.escape(f"{path} is not TOML: line {line}: ")) as raised:
        read_toml(path, "")
    assert raised.value.way_out == f"Correct line {line}."
