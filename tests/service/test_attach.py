"""A served memory used from elsewhere: the same commands give the same, and what cannot be done is said."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from amgs import wire
from amgs.errors import Cancelled, NotAllowedError, UnknownCallerError, UnreachableError, UsageError
from amgs.types import Progress
from amgs_app import cli
from amgs_app.attached.remote_engine import RemoteEngine
from amgs_app.engine import Options
from amgs_app.focus import commands as focus
from amgs_app.focus import lifetime_commands as focus_lifetime
from amgs_app.lifecycle import commands as lifecycle
from amgs_app.places.folders import ENDING, address_at
from amgs_app.server.tokens import Caller, Tokens, digest
from amgs_app.session.operator import Operator
from amgs_focus.records import Segment
from tests.engine.session_samples import CLAUDE_CODE, CODEX, write_lines
from tests.service.serving import NOW, client, served

SCRIPT = """\
ingest "The mast of the Heron was replaced in May." --date 2026-02-01 --speaker Ann
ingest "Ann repaired the Heron in June, and Bob helped her." --tag boats
inbox list
consolidate plan
consolidate edit @1 --confidence .7
consolidate apply
search "who repaired the Heron?"
frame assemble ATTENTION --query Heron
frame last
why Heron @1 | json
select @1
bookmark
bookmark --list
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


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with served(tmp_path_factory.mktemp("served") / "notes.duckdb") as found:
        yield found


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


def test_a_step_of_one_client_goes_before_the_polishing_that_another_asked_for(tmp_path: Path) -> None:
    begun, order = threading.Event(), list[str]()

    def polish(at: str) -> None:
        with RemoteEngine(Options(connect=at)) as engine:
            engine.carry_out(focus_lifetime.rebuild(polish=True), Progress(lambda done, total, doing: begun.set()))
        order.append("polish")

    with served(tmp_path / "there.duckdb") as there, RemoteEngine(Options(connect=there)) as engine:
        engine.open_focus([Segment("The encoder slipped in the cold night and the motor stopped. " * 40)])
        thread = threading.Thread(target=polish, args=(there,))
        thread.start()
        assert begun.wait(30)
        engine.carry_out(focus.step(1))
        order.append("step")
        thread.join()
    assert order == ["step", "polish"]


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


def test_a_memory_is_written_to_a_file_here_and_read_into_an_empty_one_there(
    engine: RemoteEngine, tmp_path: Path
) -> None:
    file = tmp_path / "memory.json"
    engine.memory.ingest_text("A rope lies on the quay.")
    told = engine.memory.exchange.export(file)
    assert told.path == str(file)
    assert told.bytes == file.stat().st_size
    with served(tmp_path / "empty.duckdb") as empty, RemoteEngine(Options(connect=empty)) as other:
        assert other.memory.exchange.load(file).blocks == told.blocks
    with pytest.raises(UsageError, match="already holds blocks"):
        engine.memory.exchange.load(file)


def test_sessions_of_agents_are_read_here_and_kept_there(engine: RemoteEngine, tmp_path: Path) -> None:
    write_lines(tmp_path / "logs" / "rollout-1.jsonl", CODEX)
    write_lines(tmp_path / "logs" / "claude.jsonl", CLAUDE_CODE)
    done = engine.memory.exchange.load_foreign([tmp_path / "logs"])
    assert (done.path, done.conversations) == (str(tmp_path / "logs"), ("claude", "rollout-1"))
    line = ["conversation", "add", "dome", str(tmp_path / "logs" / "rollout-1.jsonl")]
    assert cli.run(["--connect", f"http://{engine.connection.name}", *line]) == 0
    assert cli.run(["--connect", f"http://{engine.connection.name}", "conversation", "show", "dome"]) == 0


def test_what_takes_long_tells_how_far_it_is_and_stops_when_it_is_told_to(engine: RemoteEngine) -> None:
    said: list[str] = []
    operator = Operator(engine)
    operator.run(lifecycle.verify(), Progress(lambda done, total, doing: said.append(doing)))
    stopped = Progress()
    stopped.cancel()
    with pytest.raises(Cancelled):
        operator.run(lifecycle.verify(), stopped)


def test_who_lets_go_of_the_connection_cancels_the_work(engine: RemoteEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[type[BaseException]] = []
    begun = threading.Event()

    def verify(self: object, progress: Progress) -> None:
        begun.set()
        try:
            for number in range(2000):
                progress(number, 2000, "checking")
                time.sleep(0.005)
        except Cancelled as error:
            ended.append(type(error))
            raise

    monkeypatch.setattr("amgs.memory.Memory.verify", verify)
    progress = Progress(lambda done, total, doing: progress.cancel())
    with pytest.raises(Cancelled):
        Operator(engine).run(lifecycle.verify(), progress)
    deadline = time.monotonic() + 8
    while not ended and time.monotonic() < deadline:
        time.sleep(0.01)
    assert begun.is_set()
    assert ended == [Cancelled]


def test_a_token_allows_what_it_allows_and_an_address_may_name_a_namespace(tmp_path: Path) -> None:
    tokens = Tokens({digest("one"): Caller("reader", ("boats",), "read")})
    with served(root=tmp_path, tokens=tokens) as found:
        with RemoteEngine(Options(connect=found)) as nobody, pytest.raises(UnknownCallerError):
            nobody.facts()
        with RemoteEngine(Options(connect=f"{found}/boats", token="one")) as reader:
            assert reader.memory.counts() == {}
            with pytest.raises(NotAllowedError):
                reader.memory.ingest_text("The Heron leaks.")


def test_where_nobody_answers_the_way_out_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    with RemoteEngine(Options(connect="127.0.0.1:9")) as lost, pytest.raises(UnreachableError):
        lost.facts()
    assert cli.run(["--connect", "http://127.0.0.1:9", "status"]) == 6
    assert "amgs serve" in capsys.readouterr().err
    assert cli.run(["--connect", "http://127.0.0.1:9", "--store", "x.duckdb", "status"]) == 2
    assert "--store belongs to whoever serves" in capsys.readouterr().err
    assert cli.run(["--connect", "http://127.0.0.1:9", "ingest", "--batch", ".", "--sync"]) == 2
    assert "Not while attached" in capsys.readouterr().err


def test_what_is_not_on_the_list_cannot_be_asked(address: str, engine: RemoteEngine, tmp_path: Path) -> None:
    secret = tmp_path / "secret.md"
    secret.write_text("the key is under the mat")
    with pytest.raises(UsageError, match="not served"):
        engine.memory.lifecycle.plan_pruning()
    asked = [
        {"path": "memory._storage.close", "args": [], "kwargs": {}},
        {"path": "memory.close", "args": [], "kwargs": {}},
        {"path": "memory.find", "args": [], "kwargs": {"text": "x", "nothing": 1}},
        {"path": ["memory"], "args": [], "kwargs": {}},
        {"path": "memory.find"},
        {"path": "block", "args": [{"$type": "os:system", "fields": {}}], "kwargs": {}},
        ["memory"],
        {"path": "memory.find", "args": [[]], "kwargs": {}},
        {"path": "memory.keep", "args": [1, {"a": 2}], "kwargs": {}},
    ]
    with client(address) as http:
        for given in asked:
            answer = http.post("/v1/attach/ask", content=wire.dumps(given))
            assert answer.status_code < 500
            assert '"result"' not in answer.text, given
        for name, arguments in (
            ("ingest", {"file": secret}),
            ("ingest", {"text": str(secret)}),
            ("focus_trace", {"path": secret}),
            ("status", {}),
            ("export", {}),
            ("search", {"query": "x", "top_k": 0}),
            ("nowhere", {}),
        ):
            told = http.post(f"/v1/attach/operations/{name}", content=wire.dumps({"arguments": arguments}))
            assert 400 <= told.status_code < 500, name
            assert "mat" not in told.text


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
