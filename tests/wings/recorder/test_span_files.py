"""What was acknowledged is on the disk, whatever happens afterwards; and what was torn is left out and counted."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from amgs.errors import InputError
from amgs.wings.recorder import bodies
from amgs.wings.recorder.bodies import SpanReader, SpanWriter, files_in

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)


def read_bodies(folder: Path) -> list[bytes]:
    return [entry.body for entry in SpanReader(folder).new()]


def test_what_is_added_is_read_in_order_and_only_once(tmp_path: Path) -> None:
    reader = SpanReader(tmp_path)
    with SpanWriter(tmp_path) as writer:
        writer.add("otlp-json", b"{}\n{", NOW)
        writer.add("otlp-protobuf", b"\x00\n\xff", NOW)
        assert [entry.form for entry in reader.new()] == ["otlp-json", "otlp-protobuf"]
        writer.add("langfuse", b"", NOW)
        assert [(entry.body, entry.at) for entry in reader.new()] == [(b"", NOW)]
    assert read_bodies(tmp_path) == [b"{}\n{", b"\x00\n\xff", b""]


def test_several_programs_write_side_by_side(tmp_path: Path) -> None:
    with SpanWriter(tmp_path) as one, SpanWriter(tmp_path) as two, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda n: (one, two)[n % 2].add("otlp-json", f"{n}".encode(), NOW), range(200)))
    assert sorted(map(int, read_bodies(tmp_path))) == [*range(200)]
    assert len(files_in(tmp_path)) == 2


def test_nothing_is_recorded_to_where_a_link_leads(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine")
    folder = tmp_path / "spans"
    folder.mkdir()
    (folder / "00000001.spans").symlink_to(tmp_path / "kept")
    with SpanWriter(folder) as writer:
        writer.add("otlp-json", b"own", NOW)
    assert (tmp_path / "kept").read_text() == "mine"
    (folder / "00000003.spans").symlink_to(tmp_path / "made")
    with pytest.raises(InputError, match="cannot be written"):
        SpanWriter(folder)
    assert not (tmp_path / "made").exists()


def test_a_writer_that_wrote_nothing_leaves_nothing(tmp_path: Path) -> None:
    SpanWriter(tmp_path / "a").close()
    assert files_in(tmp_path / "a") == []


def test_beyond_what_is_kept_the_oldest_file_goes(tmp_path: Path) -> None:
    with SpanWriter(tmp_path, capacity=40_000) as writer:
        for number in range(100):
            writer.add("otlp-json", f"{number:04}".encode() * 250, NOW)
    kept = [body[:4] for body in read_bodies(tmp_path)]
    assert kept[-1] == b"0099" and kept == [f"{n:04}".encode() for n in range(100 - len(kept), 100)]
    assert 20_000 < sum(path.stat().st_size for path in files_in(tmp_path)) <= 40_000


@pytest.mark.parametrize("cut", [1, 5, 30, 90])
def test_a_torn_end_is_left_out_and_counted_and_what_comes_later_is_read(tmp_path: Path, cut: int) -> None:
    with SpanWriter(tmp_path) as writer:
        writer.add("otlp-json", b"whole", NOW)
        writer.add("otlp-json", b"torn", NOW)
    (path,) = files_in(tmp_path)
    path.write_bytes(path.read_bytes()[:-cut])
    with SpanWriter(tmp_path) as writer:
        writer.add("otlp-json", b"later", NOW)
    reader = SpanReader(tmp_path)
    assert [entry.body for entry in reader.new()] == [b"whole", b"later"]
    assert reader.torn == 1


def test_a_body_that_is_not_what_was_written_is_left_out(tmp_path: Path) -> None:
    with SpanWriter(tmp_path) as writer:
        for body in (b"first", b"second", b"third"):
            writer.add("otlp-json", body, NOW)
    (path,) = files_in(tmp_path)
    path.write_bytes(path.read_bytes().replace(b"\nsecond\n", b"\nsecand\n"))
    reader = SpanReader(tmp_path)
    assert [entry.body for entry in reader.new()] == [b"first", b"third"]
    assert reader.torn == 1


@pytest.mark.parametrize("size", [10**6, 10**15, 10**30])
def test_a_body_longer_than_its_file_is_torn(tmp_path: Path, size: int) -> None:
    with SpanWriter(tmp_path) as writer:
        writer.add("otlp-json", b"whole", NOW)
        writer.add("otlp-json", b"torn", NOW)
    (path,) = tmp_path.iterdir()
    path.write_bytes(path.read_bytes().replace(b'"bytes": 4', b'"bytes": %d' % size))
    reader = SpanReader(tmp_path)
    assert [each.body for each in reader.new()] == [b"whole"]
    assert reader.torn == 1


def test_what_a_full_disk_took_of_a_body_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def half(file: int, data: bytes) -> None:
        os.write(file, data[: len(data) // 2])
        raise OSError(28, "No space left on device")

    with SpanWriter(tmp_path) as writer:
        writer.add("otlp-json", b"before", NOW)
        with monkeypatch.context() as full, pytest.raises(OSError, match="No space left"):
            full.setattr(bodies, "_write", half)
            writer.add("otlp-json", b"lost", NOW)
        writer.add("otlp-json", b"after", NOW)
    assert read_bodies(tmp_path) == [b"before", b"after"]


def test_a_folder_that_cannot_be_written_is_refused_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written"):
        SpanWriter(tmp_path / "file")


_WRITES = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from amgs.wings.recorder.bodies import SpanWriter
writer = SpanWriter(Path(sys.argv[1]))
for number in range(1_000_000):
    writer.add("otlp-json", f"{number:06}".encode() * 500, datetime.now(UTC))
    print(number, flush=True)
"""


def test_nothing_that_was_acknowledged_is_lost_to_a_kill(tmp_path: Path) -> None:
    for acknowledged in (1, 40):
        with subprocess.Popen(
            [sys.executable, "-c", _WRITES, str(tmp_path)], stdout=subprocess.PIPE, text=True
        ) as writing:
            assert writing.stdout is not None
            for _ in range(acknowledged):
                last = int(writing.stdout.readline())
            writing.send_signal(signal.SIGKILL)
            rest = [int(line) for line in writing.stdout.read().split() if line.isdigit()]
        last = max([last, *rest[:-1]])
        found = {int(body[:6]) for body in read_bodies(tmp_path)}
        assert {*range(last + 1)} <= found
        for path in files_in(tmp_path):
            path.unlink()


def test_secrets_in_spans_are_masked_before_they_are_written(tmp_path: Path) -> None:
    key = "AKIA" + "QX7RTZ4MNB2KLP5W"
    with SpanWriter(tmp_path) as writer:
        writer.add("otlp-json", f'{{"stringValue": "key {key}"}}'.encode(), NOW)
    assert all(key.encode() not in file.read_bytes() for file in files_in(tmp_path))
