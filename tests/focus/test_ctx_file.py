"""The .ctx format: offsets as specified, nothing lost in a crash, every damage named and repaired."""

from __future__ import annotations

import signal
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from amgs_focus.errors import CtxError
from amgs_focus.tree.ctx_file import BF16, FP16, UINT32, CtxFile, CtxHeader, Rows, repair

TOKENS = CtxHeader(level=0, block_size=4, width=0, dtype=UINT32, model="tiny-7")
GISTS = CtxHeader(level=1, block_size=4, width=3, dtype=FP16, model="tiny-7", gist_version=9)


def written(folder: Path, header: CtxHeader = TOKENS, rows: Rows | None = None) -> Path:
    path = folder / "L.ctx"
    path.unlink(missing_ok=True)
    with CtxFile.create(path, header) as file:
        file.append(np.arange(8, dtype=np.uint32) if rows is None else rows)
    return path


def test_header_has_the_specified_offsets(tmp_path: Path) -> None:
    raw = written(tmp_path, GISTS, np.ones((5, 3), np.float16)).read_bytes()
    assert struct.unpack_from("<IHHHHH", raw, 0) == (0x4D434354, 1, 1, 4, 3, 1)
    assert raw[14:46] == b"tiny-7".ljust(32, b"\0")
    assert struct.unpack_from("<QI", raw, 46) == (5, 9)
    assert struct.unpack_from("<I", raw, 58)[0] == zlib.crc32(raw[:58] + bytes(6))
    assert raw[62:64] == b"\0\0"
    assert len(raw) == 64 + 5 * 3 * 2


def test_any_row_lies_at_header_plus_index_times_width(tmp_path: Path) -> None:
    rows = np.arange(30, dtype=np.float16).reshape(10, 3)
    raw = written(tmp_path, GISTS, rows).read_bytes()
    assert np.array_equal(np.frombuffer(raw, "<f2", 3, 64 + 7 * 3 * 2), rows[7])


def test_bfloat16_rounds_to_nearest_and_reads_as_float32(tmp_path: Path) -> None:
    header = CtxHeader(level=2, block_size=4, width=2, dtype=BF16, model="m")
    rows = np.array([[1.0, -2.5], [3.14159, 1e-3]], np.float32)
    with CtxFile.open(written(tmp_path, header, rows)) as file:
        found = file.rows(0, 2)
    assert found.dtype == np.float32
    assert np.allclose(found, rows, rtol=2**-8)
    assert found[0].tolist() == [1.0, -2.5]


@pytest.mark.parametrize("header", [TOKENS, GISTS])
def test_a_file_cut_at_any_byte_is_named_or_whole_and_can_be_repaired(tmp_path: Path, header: CtxHeader) -> None:
    rows = np.arange(8, dtype=np.uint32) if header is TOKENS else np.arange(12, dtype=np.float16).reshape(4, 3)
    whole = written(tmp_path, header, rows).read_bytes()
    for length in range(len(whole)):
        path = tmp_path / "cut.ctx"
        path.write_bytes(whole[:length])
        with pytest.raises(CtxError, match=r"cut\.ctx"):
            CtxFile.open(path)
        repair(path, header)
        with CtxFile.open(path) as file:
            kept = len(file)
            assert np.array_equal(file.rows(0, kept), rows[:kept])
            held = max(0, length - 64) // header.row_bytes
            assert kept == held - (held % 4 if header is TOKENS else 0)


def test_any_changed_byte_of_the_header_is_noticed(tmp_path: Path) -> None:
    path = written(tmp_path)
    whole = path.read_bytes()
    for place in range(64):
        damaged = bytearray(whole)
        damaged[place] ^= 0x10
        path.write_bytes(damaged)
        with pytest.raises(CtxError):
            CtxFile.open(path)


def test_a_damaged_header_is_rebuilt_only_from_what_is_expected(tmp_path: Path) -> None:
    path = written(tmp_path)
    damaged = bytearray(path.read_bytes())
    damaged[50] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(CtxError):
        repair(path)
    assert repair(path, TOKENS).count == 8


def test_a_file_that_is_something_else_is_never_repaired(tmp_path: Path) -> None:
    path = tmp_path / "letter.ctx"
    path.write_bytes(b"Dear Nuria, " * 20)
    with pytest.raises(CtxError):
        repair(path, TOKENS)
    assert path.read_bytes().startswith(b"Dear Nuria")
    other = written(tmp_path, GISTS, np.ones((1, 3), np.float16))
    with pytest.raises(CtxError, match="level 1"):
        repair(other, TOKENS)


def test_rows_without_their_count_do_not_exist(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path)
    file = CtxFile.open(path, writable=True)

    def crash(self: CtxFile, count: int) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(CtxFile, "_set_count", crash)
        with pytest.raises(KeyboardInterrupt):
            file.append(np.full(4, 99, np.uint32))
    file.close()
    with CtxFile.open(path, writable=True) as again:
        assert again.rows(0, 99).tolist() == list(range(8))
        again.append(np.array([8, 9, 10, 11], np.uint32))
        assert again.rows(0, 99).tolist() == list(range(12))


def test_a_process_killed_while_it_appends_loses_nothing_it_reported(tmp_path: Path) -> None:
    path = written(tmp_path)
    program = f"""
import numpy as np
from pathlib import Path
from amgs_focus.tree.ctx_file import CtxFile
file = CtxFile.open(Path({str(path)!r}), writable=True)
for first in range(8, 10**9, 4):
    file.append(np.arange(first, first + 4, dtype=np.uint32))
    print(first + 4, flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    reported = 8
    for _ in range(20):
        reported = int(child.stdout.readline())
    child.send_signal(signal.SIGKILL)
    child.wait()
    child.stdout.close()
    with CtxFile.open(path) as file:
        assert len(file) >= reported
        assert np.array_equal(file.rows(0, len(file)), np.arange(len(file)))


def test_a_later_format_a_missing_file_and_an_existing_one_are_named(tmp_path: Path) -> None:
    path = written(tmp_path)
    later = bytearray(path.read_bytes())
    later[4] = 2
    path.write_bytes(later)
    with pytest.raises(CtxError, match="version 2"):
        CtxFile.open(path)
    with pytest.raises(CtxError, match=r"none\.ctx"):
        CtxFile.open(tmp_path / "none.ctx")
    with pytest.raises(CtxError, match="exists already"):
        CtxFile.create(path, TOKENS)


def test_a_long_model_name_is_cut_between_characters() -> None:
    header = CtxHeader(level=0, block_size=4, width=0, dtype=UINT32, model="é" * 40)
    assert CtxHeader.unpack(header.pack()).model == "é" * 15
