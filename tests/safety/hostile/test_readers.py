"""Files that are made to hang or to fill the machine: every reader takes or refuses each within seconds, and pipes and
devices are refused wherever a file is read.

`make explore` draws thousands anew; what they find becomes an example below.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import resource
import tarfile
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from amgs.clock import FixedClock
from amgs.errors import AmgsError, InputError
from amgs.ingest.readers import documents
from amgs.ingest.readers.registry import READERS
from amgs.ingest.reading import read_folder
from amgs.memory import Memory
from amgs.sessions.lines import lines_of
from amgs.sessions.opening import open_session, sessions_in
from amgs.settings import IngestSettings
from tests.engine.foreign_samples import SAMPLES
from tests.engine.session_samples import CLAUDE_CODE, CODEX
from tests.safety.hostile.draws import WORDS, Draws, patience

NOW = datetime(2026, 3, 1, 9, tzinfo=UTC)
SECONDS = 10
"""Of the processor, for one file: a crowded machine takes longer by the clock."""
ROOM = 1 << 30
"""Bytes of memory beyond what is there already that one file may take."""
REPEATED = (
    "<div>", "<svg>", "<svg></nav>", "<!--", "<!-- x>", "<![CDATA[", "<![a[", "<a b='", "<a ", "</", "<?", "<", "&#",
    "<table><tr><td>", "<title>", "<li>", "</scr", "<pre>", "<h1>x", "[", "](", "![", "> ", "- ", "*a ", "`", "|",
    "# x\n", "[a]: b\n", "[a](b) ", "a\n---\n", "```\n", "$$", "x\n\n", ".. x::\n", "::\n", "=\n", "+-+\n", "|a| ",
    "* x\n", "#+BEGIN_SRC\n", "#+END_SRC\n", ":P:\n", "To: a@b, ", "To: (", "=?utf-8?q?x?= ",
    "Content-Type: text/plain; a=",
    "Content-Type: multipart/mixed; boundary=x\n\n--x\n", "-->", "00:00.000 --> 00:01.000\nx\n\n", "1\n", "{", '{"a":',
    '{"role":"user","content":"x"}\n', "def a():\n", "class A:\n ", "'''", "(", "#if\n", "/*", "`${", "\t", " ", "\n",
    "A: b\n", "x", "x ", "3 May ", "Ann said ", "1.", "日本", "- a: &a\n", "  b: *a\n", "'",
)  # fmt: skip


@contextmanager
def bounded() -> Iterator[None]:
    """Fail for what takes too long or too much memory."""
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (held + ROOM, before[1]))
    begun = time.process_time()
    try:
        with patience():
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert time.process_time() - begun < SECONDS


# --- what is drawn ------------------------------------------------------------------------------------------


def repeated(rng: random.Random) -> bytes:
    """One or two pieces, again and again, with an end that closes them or not."""
    parts = "".join(rng.choice(REPEATED) for _ in range(rng.choice((1, 1, 2, 3))))
    size = rng.choice((3_000, 30_000, 300_000))
    head = rng.choice(("", "---\na:\n  - ", "<html><body>", "From: a@b\nSubject: x\n", "WEBVTT\n\n", "<script>", "[\n"))
    tail = rng.choice(("", ">", "\n---\n\nx said so.\n", '"}]}', "'>x", "\n\nx"))
    return (head + parts * (size // len(parts)) + tail).encode()


def packed(rng: random.Random) -> bytes:
    """An archive that holds far more than its bytes, or leads out of where it is unpacked."""
    kind, out = rng.choice(("zip", "gzip", "tar", "pdf")), io.BytesIO()
    if kind == "gzip":
        return gzip.compress(bytes(rng.choice((0, 1000, 1 << 24))))
    if kind == "zip":
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr(rng.choice(("a.md", "../../a.md", "/etc/a.md")), bytes(rng.choice((10, 1 << 24))))
    elif kind == "tar":
        with tarfile.open(fileobj=out, mode=rng.choice(("w", "w:gz"))) as archive:
            link = tarfile.TarInfo(rng.choice(("a.md", "../a.md", "/etc/a.md")))
            link.type, link.linkname = rng.choice((tarfile.SYMTYPE, tarfile.LNKTYPE)), "/etc/passwd"
            archive.addfile(link)
    else:
        return bomb(rng.choice((1 << 10, 1 << 22, 1 << 26)))
    return out.getvalue()


def bomb(size: int) -> bytes:
    """A page of PDF whose stream unpacks to so many bytes."""
    stream = zlib.compress(b"BT /F1 12 Tf (x) Tj ET\n" + b" " * size, 9)
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(stream), stream),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    return (
        b"%PDF-1.4\n"
        + b"".join(b"%d 0 obj\n%s\nendobj\n" % (n, part) for n, part in enumerate(parts, 1))
        + (b"trailer << /Root 1 0 R /Size 6 >>\n%%EOF\n")
    )


def nested(rng: random.Random) -> bytes:
    """JSON of great depth, or of aliases, or a mail within a mail within a mail."""
    depth = rng.choice((500, 5_000, 100_000))
    return rng.choice(
        (
            b"[" * depth,
            b'{"a":' * depth + b"1" + b"}" * depth,
            b'[{"role": "user", "content": ' + b"[" * depth + b"]" * depth + b"}]",
            b'{"messages": ' + b'[{"content": ' * depth,
            b"---\na: &a [x]\n" + b"".join(b"b%d: &b%d\n  - *a\n  - *a\n" % (n, n) for n in range(9)) + b"---\nx\n",
            b"".join(b"Content-Type: multipart/mixed; boundary=b%d\n\n--b%d\n" % (n, n) for n in range(depth // 50)),
            b"Content-Type: message/rfc822\n\n" * (depth // 50),
        )
    )


def broken(rng: random.Random) -> bytes:
    """A session of an agent, cut, in another encoding, or with bytes of it changed."""
    lines = rng.choice((CLAUDE_CODE, CODEX, *([one] for one in SAMPLES.values())))
    raw = bytearray("\n".join(json.dumps(one, ensure_ascii=False) for one in lines).encode())
    kind = rng.choice(("cut", "encoded", "changed", "words"))
    if kind == "cut":
        del raw[rng.randrange(len(raw)) :]
    elif kind == "encoded":
        return raw.decode().encode(rng.choice(("utf-16", "utf-32", "latin-1")), "replace")
    elif kind == "changed":
        for _ in range(rng.choice((1, 20))):
            raw[rng.randrange(len(raw))] = rng.randrange(256)
    else:
        for _ in range(9):
            at = rng.randrange(len(raw))
            raw[at:at] = rng.choice(WORDS).encode("utf-8", "surrogatepass")
    return bytes(raw)


def place(folder: Path, number: int, rng: random.Random) -> Path:
    """Put a hostile file into the folder, under a name that may be hostile too."""
    word = rng.choice(WORDS).replace("/", "_").replace("\0", "0").strip(".")
    shown = word.encode("utf-8", "surrogatepass")[:150].decode("utf-8", "ignore")
    path = folder / f"{number} {rng.choice((shown, 'x'))}{rng.choice((*READERS, '.json', ''))}"
    special = rng.choice(("pipe", "out", "self", "device", "above", *("file",) * 25))
    if special == "pipe":
        os.mkfifo(path)
    elif special == "file":
        path.write_bytes(rng.choice((repeated, repeated, packed, nested, broken))(rng))
    else:
        path.symlink_to({"out": "/etc/hostname", "self": path.name, "device": "/dev/zero", "above": ".."}[special])
    return path


@pytest.mark.hostile
def test_no_file_hangs_fills_the_machine_or_ends_in_a_traceback(tmp_path: Path, draws: Draws) -> None:
    refused = 0
    with Memory.open(tmp_path / "store.duckdb", clock=FixedClock(NOW)) as memory:
        for number in range(draws.count):
            seed = f"{draws.seed}/{number}"
            folder = tmp_path / str(number)
            folder.mkdir()
            path = place(folder, number, random.Random(seed))
            try:
                with bounded():
                    found = read_folder(folder, IngestSettings())
                assert found.drafts or found.refused or found.skipped or found.warnings, "it is not named"
                for read in (open_session, sessions_in, memory.exchange.is_export):
                    with bounded():
                        refused += is_refused(read, path)
                with bounded():
                    refused += is_refused(memory.exchange.load_foreign, path)
            except BaseException as error:
                raise AssertionError(f"draw {seed}: {path.name!r}") from error
        assert memory.verify().ok
    print(f"{draws.count} hostile files read four ways, {refused} refusals")  # noqa: T201


def is_refused(read: Callable[[Path], object], path: Path) -> bool:
    """Whether a file is refused, with a way out."""
    try:
        read(path)
    except AmgsError as error:
        assert error.way_out and len(error.message) < 1_000
        return True
    return False


# --- what was found -----------------------------------------------------------------------------------------


def test_a_document_whose_reading_does_not_end_is_refused_and_the_next_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "b.html").write_text("<p>Oars.")
    read_folder(tmp_path, IngestSettings())  # it has been loaded
    (tmp_path / "a.html").write_bytes(b"<!--" * 100_000)
    monkeypatch.setattr(documents, "PATIENCE", 3.0)
    found = read_folder(tmp_path, IngestSettings())
    assert [(one.source, "takes more than 3 seconds" in one.reason) for one in found.refused] == [("a.html", True)]
    assert [one.content for one in found.drafts] == ["Oars."]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<![foo[x]]><p>a", "<![foo[x]]><p>a"),
        ("<![1><p>a", "<![1><p>a"),
        ("<p>one<!-- no end <p>two", "one<!-- no end <p>two"),
        ("<p>a<b", "a<b"),
        ("<p>1 < 2", "1 < 2"),
        ("<nav><svg></nav><p>x", "x"),
        ("<nav><nav></nav>a</nav><p>x", "a\n\nx"),
        ("<script>var a='<!--';</script><p>b", "b"),
    ],
)
def test_a_page_that_breaks_off_is_read_as_far_as_it_goes(tmp_path: Path, page: str, text: str) -> None:
    (tmp_path / "a.html").write_text(page)
    assert [one.content for one in read_folder(tmp_path, IngestSettings()).drafts] == [text]


@pytest.mark.parametrize("kind", ["pipe", "device"])
def test_what_has_no_end_is_refused_wherever_a_file_is_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "x.jsonl"
    os.mkfifo(path) if kind == "pipe" else path.symlink_to("/dev/zero")
    with Memory.open(tmp_path / "store.duckdb", clock=FixedClock(NOW)) as memory:
        reads = (
            open_session,
            sessions_in,
            memory.exchange.load_foreign,
            memory.exchange.is_export,
            memory.exchange.load,
        )
        for read in reads:
            with bounded(), pytest.raises(InputError, match="is not a file"):
                read(path)


def test_a_line_without_end_is_counted_and_not_held(tmp_path: Path) -> None:
    path = tmp_path / "long.jsonl"
    with path.open("wb") as file:
        file.write(b'{"a": 1}\n')
        file.truncate(300 << 20)  # it takes no room on the disk
        file.seek(0, os.SEEK_END)
        file.write(b'\n{"b": 2}\n')
    with bounded():
        first, long, last = lines_of(path)
    assert (first.value, last.value) == ({"a": 1}, {"b": 2})
    assert long.why == "longer than 64 MiB" and long.place.size == (300 << 20) - 8
    assert (last.place.line, last.place.offset) == (3, (300 << 20) + 1)


def test_a_link_that_leads_out_of_a_folder_is_told(tmp_path: Path) -> None:
    notes = tmp_path / "notes"
    (notes / "in").mkdir(parents=True)
    (tmp_path / "out.md").write_text("Out.")
    (notes / "in" / "a.md").write_text("In.")
    (notes / "b.md").symlink_to("in/a.md")
    (notes / "c.md").symlink_to("../out.md")
    (notes / "up").symlink_to("..")
    told = {one.source: one.reason for one in read_folder(notes, IngestSettings()).warnings}
    assert told == {
        "c.md": "it is a link that leads out of the folder",
        "up": "it is a link to a folder; it was passed over",
    }
