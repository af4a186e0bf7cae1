"""A served memory used from elsewhere: the same commands give the same, and what cannot be done is said."""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from amgs import wire
from amgs.api.exchange import ForeignImport, Imported
from amgs.errors import Cancelled, NotAllowedError, UnknownCallerError, UnreachableError, UsageError
from amgs.types import IngestReport, Progress
from amgs_app import cli
from amgs_app.attached.connection import SentFile
from amgs_app.attached.remote_engine import RemoteEngine
from amgs_app.engine import Options
from amgs_app.focus import commands as focus
from amgs_app.lifecycle import care_commands as exchange
from amgs_app.lifecycle import commands as lifecycle
from amgs_app.places.folders import ENDING, address_at
from amgs_app.server.tokens import Caller, Tokens, digest
from amgs_app.session import Operator
from amgs_focus.runtime.utility import measure_losses
from tests.engine.session_samples import CLAUDE_CODE, CODEX, write_lines
from tests.service.serving import NOW, client, served

SCRIPT = """\
ingest "The mast of the Heron was replaced in May." --date 2026-02-01 --speaker Ann
ingest "Ann repaired the Heron in June, and Bob helped her." --tag boats
inbox list
consolidate plan
consolidate edit @1 --confidence .7
consolidate --draft
search "who repaired the Heron?"
frame assemble ATTENTION --query Heron
frame last
why Heron @1 | json
select @1
block set @1 --meta marked=yes
block find --meta marked=yes
decay curve
feedback useful
operations
layout graph
layout --list
frame open --question "who helped?"
focus step
focus view
show focus
expect blocks == 2
expect focus.step == 1
undo
"""


@pytest.fixture
def engine(address: str) -> Iterator[RemoteEngine]:
    with RemoteEngine(Options(connect=address)) as made:
        yield made


def test_a_script_prints_the_same_here_and_attached(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = tmp_path / "script.amgs"
    script.write_text(SCRIPT)
    told = []
    with served(tmp_path / "there.duckdb") as there:
        here = ["--store", str(tmp_path / "here.duckdb"), "--model", "tiny", "--now", NOW.isoformat()]
        for way in (here, ["--connect", there]):
            assert cli.run([*way, "run", str(script)]) == 0
            told.append(capsys.readouterr().out)
    assert told[0] == told[1]
    assert "Heron" in told[0]


def test_a_look_of_one_client_goes_before_the_reading_that_another_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, viewed, order = threading.Event(), threading.Event(), list[str]()

    def read_slowly(*arguments: Any) -> Any:
        """Report a step again and again until the other client has its view, as a reading of a minute would."""
        begun.set()
        ends = time.monotonic() + 30
        while not viewed.is_set() and time.monotonic() < ends:
            arguments[-1](0, 1, "reading")
        return measure_losses(*arguments)

    def ask_about_answer(at: str) -> None:
        with RemoteEngine(Options(connect=at)) as engine:
            engine.carry_out(focus.why(answer=True))
        order.append("answer")

    monkeypatch.setattr("amgs_focus.dependence.measure_losses", read_slowly)
    with served(tmp_path / "there.duckdb") as there, RemoteEngine(Options(connect=there)) as engine:
        note = tmp_path / "night.md"
        note.write_text("The encoder slipped in the cold night and the motor stopped. " * 40)
        engine.carry_out(focus.open_context(files=[note]))
        engine.carry_out(focus.step(2))
        thread = threading.Thread(target=ask_about_answer, args=(there,))
        thread.start()
        assert begun.wait(30)
        engine.carry_out(focus.view(texts=True))
        order.append("view")
        viewed.set()
        thread.join()
    assert order == ["view", "answer"]


def test_single_commands_and_the_shell_work_attached(
    address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    note = tmp_path / "gulls.md"
    note.write_text("# Gulls\n\nThe gulls left the harbour on Monday.\n")
    assert cli.run(["--connect", address, "ingest", "--file", str(note)]) == 0
    assert cli.run(["--connect", address, "search", "gulls harbour"]) == 0
    assert cli.run(["--connect", address, "block", "show", "@1"]) == 0  # the list before is remembered
    assert "left the harbour" in capsys.readouterr().out
    lines = tmp_path / "lines"
    lines.write_text("search gulls | json\nblock show nowhere\n")
    with lines.open() as given:
        monkeypatch.setattr("sys.stdin", given)
        assert cli.run(["--connect", address, "shell"]) == 2
    assert "`block find TEXT` looks for it" in capsys.readouterr().err


def test_files_are_read_and_written_here_and_their_content_goes_there(
    address: str, engine: RemoteEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    notes = tmp_path / "quay"
    (notes / ".hidden").mkdir(parents=True)
    (notes / ".hidden" / "key.md").write_text("The hidden key.")
    (notes / "rope.md").write_text("# Rope\n\nA rope lies on the quay.\n")
    (notes / "quay.bin").write_bytes(b"\0" * 100)
    found = engine.carry_out(lifecycle.ingest(batch=Path("quay")))
    assert isinstance(found, IngestReport)
    assert ([kind.ending for kind in found.skipped], len(found.added)) == ([".bin"], 1)
    assert engine.memory.block(found.added[0]).meta["source"] == "rope.md"
    assert engine.carry_out(lifecycle.ingest(batch=Path("quay"))).added == ()  # type: ignore[union-attr]

    told = engine.carry_out(exchange.export(path=Path("memory.json")))
    assert (told.path, told.replaced) == ("memory.json", False)
    assert told.bytes == (tmp_path / "memory.json").stat().st_size
    with served(tmp_path / "empty.duckdb") as empty, RemoteEngine(Options(connect=empty)) as other:
        done = other.carry_out(exchange.load(paths=[Path("memory.json")]))
        assert isinstance(done, Imported) and (done.path, done.blocks) == ("memory.json", told.blocks)
    with pytest.raises(UsageError, match="already holds blocks"):
        engine.carry_out(exchange.load(paths=[Path("memory.json")]))
    for words in (["export"], ["export", "nowhere/memory.json"], ["ingest", "--file", "nowhere.md"]):
        assert cli.run(["--connect", address, *words]) != 0


def test_sessions_of_agents_are_read_here_and_kept_there(address: str, engine: RemoteEngine, tmp_path: Path) -> None:
    write_lines(tmp_path / "logs" / "rollout-1.jsonl", CODEX)
    write_lines(tmp_path / "logs" / "claude.jsonl", CLAUDE_CODE)
    done = engine.carry_out(exchange.load(paths=[tmp_path / "logs"]))
    assert isinstance(done, ForeignImport)
    assert (done.path, done.conversations) == (str(tmp_path / "logs"), ("claude", "rollout-1"))
    line = ["conversation", "add", "dome", str(tmp_path / "logs" / "rollout-1.jsonl")]
    assert cli.run(["--connect", address, *line]) == 0
    assert cli.run(["--connect", address, "conversation", "show", "dome"]) == 0


def test_who_lets_go_of_the_connection_cancels_the_work(engine: RemoteEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    begun, ended = threading.Event(), threading.Event()

    def verify(self: object, progress: Progress) -> None:
        begun.set()
        try:
            while True:
                progress(1, 2, "checking")
        except Cancelled:
            ended.set()
            raise

    monkeypatch.setattr("amgs.memory.Memory.verify", verify)
    progress = Progress(lambda done, total, doing: progress.cancel())
    with pytest.raises(Cancelled):
        Operator(engine).run(lifecycle.verify(), progress)
    assert begun.is_set() and ended.wait(120)


def test_a_token_allows_what_it_allows_and_an_address_may_name_a_namespace(tmp_path: Path) -> None:
    tokens = Tokens({digest("one"): Caller("reader", ("boats",), "read")})
    with served(root=tmp_path, tokens=tokens) as found:
        with RemoteEngine(Options(connect=found)) as nobody, pytest.raises(UnknownCallerError):
            nobody.facts()
        with RemoteEngine(Options(connect=f"{found}/boats", token="one")) as reader:
            assert reader.memory.counts() == {}
            with pytest.raises(NotAllowedError):
                reader.carry_out(lifecycle.ingest("The Heron leaks."))


def test_where_nobody_answers_the_way_out_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with RemoteEngine(Options(connect="127.0.0.1:9")) as lost, pytest.raises(UnreachableError):
        lost.facts()
    assert cli.run(["--connect", "http://127.0.0.1:9", "status"]) == 6
    assert "amgs serve" in capsys.readouterr().err
    assert cli.run(["--connect", "http://127.0.0.1:9", "--store", "x.duckdb", "status"]) == 2
    assert "--store belongs to whoever serves" in capsys.readouterr().err
    assert cli.run(["--connect", "http://127.0.0.1:9", "ingest", "--batch", ".", "--sync"]) == 2
    assert "Not while attached" in capsys.readouterr().err


def test_a_client_reaches_no_file_of_the_server_and_nothing_but_operations(
    address: str, engine: RemoteEngine, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("the key is under the mat")
    with pytest.raises(UsageError, match="not served"):
        engine.memory.lifecycle.plan_pruning()
    loop = io.BytesIO()
    with tarfile.open(fileobj=loop, mode="w") as archive:
        (link := tarfile.TarInfo("file/0/secret.md")).type, link.linkname = tarfile.SYMTYPE, str(secret)
        archive.addfile(link)
    asked: list[tuple[str, Any]] = [
        ("ingest", {"arguments": {"file": secret}}),
        ("ingest", {"arguments": {"text": str(secret)}}),
        ("ingest", {"arguments": {}, "files": (SentFile("file", 0, "x", "secret.md"),), "paths": [str(secret)]}),
        ("ingest", {"arguments": {}, "files": (SentFile("file", 0, "x", "../../secret.md"),), "archive": b""}),
        ("ingest", {"arguments": {}, "files": (SentFile("file", 0, "x", "secret.md"),), "archive": loop.getvalue()}),
        ("ingest", {"arguments": {}, "files": (SentFile("speaker", 0, "x", "y"),), "archive": loop.getvalue()}),
        ("ingest", {"arguments": {"text": {"$type": "os:system", "fields": {}}}}),
        ("focus_trace", {"arguments": {"run": str(secret)}}),
        ("focus_branch", {"arguments": {"name": str(secret), "diff": [str(secret)]}}),
        ("consolidate", {"arguments": {"draft": True}, "state": {"draft": "none"}}),
        ("status", {}),
        ("status", ["arguments"]),
        ("settings", {"arguments": {}}),
        ("search", {"arguments": {"query": "x", "top_k": 0}}),
        ("nowhere", {"arguments": {}}),
    ]
    with client(address, **{"Content-Type": wire.MEDIA_TYPE}) as http:
        for name, given in asked:
            told = http.post(f"/v1/operations/{name}", content=wire.dumps(given))
            assert told.status_code < 500, name
            assert '"result"' not in told.text and "mat" not in told.text, (name, given)


def test_a_store_in_use_says_where_it_is_served_and_only_while_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = tmp_path / "notes.duckdb"
    place = tmp_path / f"{store.name}{ENDING}"
    with served(store) as found:
        with client(found) as http:
            assert http.get("/v1/lifecycle/status").status_code == 200
        assert address_at(place) == found
        code = "import sys; from amgs_app import cli; sys.exit(cli.run(sys.argv[1:]))"
        command = [sys.executable, "-c", code, "--store", str(store), "--model", "tiny", "status"]
        refused = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
        assert refused.returncode == 4
        assert f"`amgs --connect {found}`" in refused.stderr
    assert address_at(place) == ""
    place.write_text("http://127.0.0.1:9")  # left behind by a server that was killed
    assert address_at(place) == ""
