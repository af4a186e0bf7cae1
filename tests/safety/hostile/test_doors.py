"""Each way in, given what none may stumble over: texts that nothing can store, numbers of 400 digits, links to
themselves, unknown encodings, the first and the last instant of the calendar.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.server.mcpserver.exceptions import ToolError

from amgs import wire
from amgs.client import MemoryClient
from amgs.errors import AmgsError, InputError, UsageError
from amgs.incoming import check_storable, make_storable, why_unstorable
from amgs_app.server.asking import Asked, Service
from amgs_app.server.hosting import DEFAULT, Namespaces
from amgs_app.server.mcp import Tools
from amgs_app.server.tokens import Caller, Tokens
from amgs_focus.errors import FocusError
from amgs_focus.tree.check import check
from amgs_tui.__main__ import run
from tests.engine.memory_world import open_memory
from tests.service.serving import client, options, served

ODD = st.sampled_from(["\0", "\ud800", "\udfff", "\udcff", "\ude00\ud83d"])
TEXT = st.text(max_size=20)
UNSTORABLE = st.tuples(TEXT, ODD, TEXT).map("".join)
SAID = re.compile(r"half a surrogate pair|a NUL")
HUGE = "9" * 400
NOTE = "The kiln in the yard reaches 1,240 degrees."
FEW = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@given(UNSTORABLE, TEXT)
def test_one_rule_says_what_can_be_stored(odd: str, text: str) -> None:
    assert SAID.search(why_unstorable(odd)) and SAID.search(why_unstorable({"a": [(text, odd)]}))
    with pytest.raises(UsageError):
        check_storable({odd: 1})
    mended = make_storable(odd)
    assert len(mended) == len(odd) and not why_unstorable(mended) and mended.encode()
    if not why_unstorable(text):
        assert make_storable(text) == text


# --- texts that nothing can store ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Served:
    """A served memory with a note in it."""

    address: str

    def works(self) -> None:
        """Somebody else searches, assembles and listens as ever."""
        with client(self.address) as other:
            found = other.post("/v1/memory/search", json={"query": "kiln"})
            assert found.status_code == 200 and len(found.json()["hits"]) == 1
            frame = other.post("/v1/frame/assemble", json={"name": "SESSION", "query": "kiln"})
            assert frame.status_code == 200, frame.text


@pytest.fixture(scope="module")
def kiln(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("kiln") / "a.duckdb") as address:
        with client(address) as own:
            assert own.post("/v1/memory/ingest", json={"content": NOTE}).status_code == 201
        yield Served(address)


BODIES: tuple[tuple[str, Callable[[str], dict[str, Any]]], ...] = (
    ("/v1/memory/search", lambda odd: {"query": odd}),
    ("/v1/memory/ingest", lambda odd: {"content": odd}),
    ("/v1/memory/ingest", lambda odd: {"content": ["fine", {"content": "fine", "speaker": odd}]}),
    ("/v1/memory/ingest", lambda odd: {"content": "fine", "meta": {"room": odd}}),
    ("/v1/frame/assemble", lambda odd: {"name": "SESSION", "query": odd}),
    ("/v1/operations/conversation_add", lambda odd: {"conversation": odd, "messages": "[]"}),
    ("/v1/operations/frame_define", lambda odd: {"name": "ODD", "purpose": odd, "base": "SESSION"}),
    ("/v1/operations/pack_assemble", lambda odd: {"pack": odd}),
    ("/v1/plans/revision", lambda odd: {"source": "x", "text": odd}),
    ("/v1/operations/search", lambda odd: {"arguments": {"query": odd}}),
    ("/v1/operations/status", lambda odd: {"arguments": {}, "state": {"selection": odd}}),
)


@FEW
@given(UNSTORABLE, st.sampled_from(BODIES), st.booleans())
def test_over_http_it_is_refused_and_nobody_else_is_spoiled(
    kiln: Served, odd: str, asked: tuple[str, Callable[[str], dict[str, Any]]], ascii_only: bool
) -> None:
    path, make = asked
    given = make(odd)
    kind = wire.MEDIA_TYPE if "arguments" in given else "application/json"
    body = json.dumps(given, ensure_ascii=ascii_only).encode("utf-8", "surrogatepass")
    with client(kiln.address) as asking:
        answer = asking.post(path, content=body, headers={"Content-Type": kind})
    assert answer.status_code in (400, 422), answer.text
    assert SAID.search(answer.text) or "parsing" in answer.text or "JSON" in answer.text, answer.text
    kiln.works()


@pytest.mark.parametrize(
    "path", ["/v1/memory/%00%00%00%00", "/v1/memory/%ed%a0%80", "/v1/graph/edge?source=%00", "/v1/journal?x=%ff"]
)
def test_an_address_is_read_like_a_body(kiln: Served, path: str) -> None:
    with client(kiln.address) as asking:
        answer = asking.request("DELETE" if "edge" in path else "GET", path)
    assert answer.status_code == 400 and SAID.search(answer.text), answer.text
    kiln.works()


@FEW
@given(UNSTORABLE)
def test_the_client_refuses_it_before_it_sends_anything(odd: str) -> None:
    with MemoryClient("http://127.0.0.1:9") as memory, pytest.raises(UsageError, match=SAID):
        memory.search(odd)


@FEW
@given(UNSTORABLE)
def test_over_mcp_it_is_refused(odd: str) -> None:
    namespaces = Namespaces(options())
    try:
        space = namespaces.get(DEFAULT)
        asked = Asked(Service(namespaces, Tokens()), Caller("mcp", (DEFAULT,), "write"), space)

        async def who_asks(headers: object) -> Asked:
            del headers
            return asked

        tools: Any = Tools(who_asks)
        ctx = SimpleNamespace(headers={})
        for ask in (
            tools.search(ctx, odd, 5, 500),
            tools.assemble(ctx, odd, "SESSION", 500),
            tools.ingest(ctx, odd, "", "", ""),
            tools.ingest(ctx, "fine", odd, "", ""),
            tools.feedback(ctx, "", None, odd, "fine"),
        ):
            with pytest.raises((AmgsError, ToolError), match=SAID):
                asyncio.run(ask)
    finally:
        namespaces.close()


LINES = (
    "search {}",
    "frame assemble SESSION --query {}",
    "ingest --source {} text",
    "ingest {}",
    "conversation keep {}",
    "pack keep odd @1 --title {}",
    "block find {}",
    "frame define ODD from=SESSION purpose={}",
    "edge set @1 @1 --kind {}",
    "diagnose x --missed {}",
)


@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("odd", [b"\xff kiln", b"kiln \xed\xa0\x80"])
def test_on_the_command_line_it_is_refused(
    line: str, odd: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(tmp_path / "a.duckdb"), "--model", "tiny"]
    assert run([*store, "ingest", NOTE]) == 0
    capsys.readouterr()
    words = [word.replace("{}", os.fsdecode(odd)) for word in line.split()]
    assert run([*store, *words]) in (2, 3)
    said = capsys.readouterr().err
    assert "Traceback" not in said and ("@1" in line or SAID.search(said) or "UTF-8" in said), said
    assert run([*store, "search", "kiln"]) == 0 and run([*store, "verify"]) == 0


@FEW
@given(UNSTORABLE)
def test_python_stores_none_and_a_search_that_is_kept_spoils_no_frame(odd: str) -> None:
    with open_memory() as memory:
        memory.ingest_text(NOTE)
        memory.consolidate()
        for ask in (
            lambda: memory.search(odd, keep=True),
            lambda: memory.assemble("SESSION", query=odd),
            lambda: memory.ingest_text(odd),
            lambda: memory.ingest_text("fine", meta={"room": odd}),
            lambda: memory.conversation.add("talk", [{"role": "user", "content": odd}]),
        ):
            with pytest.raises((UsageError, InputError), match=SAID):
                ask()
        assert memory.assemble("SESSION", query="kiln").selected


def test_a_search_of_an_earlier_release_is_written_without_failing_the_next_frame(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with open_memory() as memory:
        memory.ingest_text(NOTE)
        memory.consolidate()
        monkeypatch.setattr("amgs.api.context.check_storable", lambda value: None)
        memory.search("\ud800 kiln", keep=True)
        assert memory.assemble("SESSION", query="kiln").selected
        assert [one.query for one in memory.searches()] == ["\ufffd kiln"]


def test_a_backup_of_a_store_that_took_a_nul_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_memory() as memory:
        with monkeypatch.context() as earlier:
            earlier.setattr("amgs.ingest.raw_blocks.why_unstorable", lambda value: "")
            memory.ingest_text("a \0 that an earlier release took")
        memory.exchange.export(tmp_path / "m.json")
    with open_memory(tmp_path / "b.duckdb") as other:
        other.exchange.load(tmp_path / "m.json")
        assert other.verify().ok and other.search("earlier release").hits


# --- numbers, links, encodings, instants --------------------------------------------------------------------


@pytest.mark.parametrize("option", ["--budget", "--limit", "--seed", "--days"])
def test_an_option_of_400_digits_is_refused_or_means_all(
    option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(tmp_path / "a.duckdb"), "--model", "tiny"]
    run([*store, "ingest", NOTE])
    for command in ("search kiln", "frame assemble SESSION --query kiln", "operations", "decay forecast"):
        assert run([*store, *command.split(), option, HUGE]) in (0, 2)
    assert "Traceback" not in capsys.readouterr().err


LINKED = (
    "ingest --file {}",
    "ingest --batch {}",
    "ingest {}",
    "ingest --sync --file {}",
    "source watch {} --rounds 1",
    "source update notes --file {}",
    "import {}",
    "session {}",
    "follow {}",
    "record {}",
    "test {}",
    "focus open --lifetime {} --check",
    "focus open {}",
    "--corpus {} status",
    "--settings {} status",
    "--store {} status",
    "run {}",
    "export {}",
)


@pytest.mark.parametrize("line", LINKED)
@pytest.mark.parametrize("kind", ["itself", "each other", "nowhere", "below itself"])
def test_a_link_to_itself_is_said(
    line: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    link = tmp_path / "link.md"
    target = {"itself": "link.md", "each other": "other.md", "nowhere": "none.md", "below itself": "link.md/x"}
    link.symlink_to(tmp_path / target[kind])
    (tmp_path / "other.md").symlink_to(link)
    run(["--store", str(tmp_path / "a.duckdb"), "--model", "tiny", "ingest", NOTE])
    capsys.readouterr()
    words = [str(link) if word == "{}" else word for word in line.split()]
    own = [] if "--store" in words or "--corpus" in words else ["--store", str(tmp_path / "a.duckdb")]
    code = run([*own, "--model", "tiny", *words])
    said = capsys.readouterr().err
    assert code in (0, 2, 3, 4, 7) and "Traceback" not in said, said


def test_a_file_of_a_lifetime_that_is_a_link_to_itself_is_named(tmp_path: Path) -> None:
    life = tmp_path / "life"
    store = ["--store", str(tmp_path / "a.duckdb"), "--model", "tiny"]
    run([*store, "ingest", NOTE])
    run([*store, "consolidate"])
    assert run([*store, "focus", "open", "--lifetime", str(life)]) == 0
    for name in ("L0.ctx", "L1.ctx", "spans.jsonl"):
        (life / name).unlink(missing_ok=True)
        (life / name).symlink_to(life / name)
        for mend in (False, True):
            try:
                told = check(life, mend=mend)
            except FocusError as error:
                assert error.message
            else:
                assert not told.ok


@pytest.mark.parametrize("encoding", ["utf-99", "rot13", "hex", "undefined", "utf-7", "punycode", "\N{BULLET}"])
def test_xml_in_an_unknown_encoding_is_refused(
    encoding: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "m.graphml"
    path.write_text(f'<?xml version="1.0" encoding="{encoding}"?><graphml></graphml>')
    assert run(["--store", str(tmp_path / "a.duckdb"), "import", str(path)]) == 3
    assert "Traceback" not in capsys.readouterr().err and not (tmp_path / "a.duckdb").exists()


@pytest.mark.parametrize("now", ["0001-01-01T00:00:00Z", "0001-01-02T00:00:00Z", "9999-12-31T23:59:59Z"])
@pytest.mark.parametrize(
    "line",
    [
        "search kiln",
        "search yesterday",
        "search tomorrow",
        *(f"frame assemble {name} --query x" for name in ("SESSION", "ATTENTION", "SELF", "SHORT_TERM", "INBOX")),
        "consolidate",
        "decay forecast",
        "decay forecast --days 36500",
        "prune --dry-run",
        "enhance --dry-run",
        "status",
        "status",
        "why kiln @1",
        "recorded --view audit",
        "ingest the_kiln_was_lit_yesterday",
    ],
)
def test_the_first_and_the_last_instant_of_the_calendar_are_instants(
    now: str, line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    store = ["--store", str(tmp_path / "a.duckdb"), "--model", "tiny", "--now", now]
    assert run([*store, "ingest", NOTE]) == 0
    assert run([*store, *line.split()]) in (0, 2, 3)
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize("seconds", [-1e14, -62_135_596_801, 253_402_300_800, 1e14])
def test_a_file_dated_beyond_the_calendar_is_taken_in(seconds: float, tmp_path: Path) -> None:
    from amgs.clock import FIRST, LAST, changed_at

    assert changed_at(seconds) == (LAST if seconds > 0 else FIRST)
    note = tmp_path / "n.md"
    note.write_text(NOTE)
    try:
        os.utime(note, (seconds, seconds))
    except (OSError, OverflowError):
        return  # a file system that has no such time
    with open_memory() as memory:
        assert len(memory.ingest_folder(tmp_path).added) == 1


def test_following_what_is_not_there_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["follow", str(tmp_path / "nope"), "--until", "1"]) == 3
    assert "Traceback" not in capsys.readouterr().err
