"""What other memories and chat programs export is taken in with its dates, and what is not taken is named."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from amgs.api.exchange import ForeignImport
from amgs.conversation.messages import read_messages
from amgs.errors import InputError
from amgs.exchange.importers.files import IMPORTERS, ForeignDocument, read_document, read_files
from amgs.exchange.importers.records import ForeignFormat, ForeignRecords
from amgs.ingest.raw_blocks import RawBlock
from amgs.settings import IngestSettings
from tests.engine.foreign_samples import ANTHROPIC, CHATGPT, MCP, MEM0, OPENAI, SAMPLES
from tests.engine.memory_world import NOW, open_memory

FORMATS: tuple[ForeignFormat, ...] = tuple(one.name for one in IMPORTERS)
OPTIONS = IngestSettings()
TEXTS = {
    "chatgpt": ["User: [image", "Assistant: An NK-90", "python: 200 steps", "Assistant: ```python"],
    "claude": [
        "Grease the dome",
        "User: Please read",
        "Assistant: search(",
        "Tool search: 1 hit",
        "Assistant: March is noted.",
    ],
    "mcp": ["Alex: Speaks Welsh", "Alex: Keeps bees", "Ulm is of the type city.", "Alex lives in Ulm."],
    "mem0": ["Alex is veg", "Alex is in Rome", "alex lives in Ulm."],
    "messages": ["System: Be", "Ilse: How far", "Assistant: look_up(", "Tool look_up: 384400", "Assistant: 384,400"],
}
"""How the blocks of each sample begin, in order."""


def drafts(found: ForeignRecords) -> list[RawBlock]:
    return [one for each in found.drafts.values() for one in each]


def by_text(found: ForeignRecords) -> dict[str, RawBlock]:
    return {one.content: one for one in drafts(found)}


def adds_up(result: ForeignImport) -> bool:
    """Every record is counted once, and every text of those that were taken lies in the store."""
    told = {one.kind: sum(left.count for left in result.left_out if left.kind == one.kind) for one in result.records}
    return all(
        one.found == one.taken + one.left_out and one.left_out == told[one.kind] and one.stored in (None, one.blocks)
        for one in result.records
    )


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_a_format_is_recognised_by_its_content_and_by_no_other_importer(name: str) -> None:
    assert [one.name for one in IMPORTERS if one.recognises(SAMPLES[name])] == [name]


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_an_export_is_not_taken_for_a_session_of_an_agent(tmp_path: Path, name: str) -> None:
    file = tmp_path / "export.json"
    file.write_text(json.dumps(SAMPLES[name]), encoding="utf-8")
    assert [one.session for one in read_files([file])] == [None]


@pytest.mark.parametrize("name", sorted(SAMPLES))
def test_the_texts_of_a_format_become_blocks_in_order(name: str) -> None:
    found = drafts(read_document(SAMPLES[name], OPTIONS))
    assert len(found) == len(TEXTS[name])
    assert all(one.content.startswith(begin) for one, begin in zip(found, TEXTS[name], strict=True))
    assert {one.meta["imported_from"] for one in found} == {name}


def test_a_dry_run_counts_what_the_import_then_does_and_an_undo_takes_it_back(tmp_path: Path) -> None:
    file = tmp_path / "export.json"
    with open_memory() as memory:
        memory.ingest_text("A note that was here before.")
        for name, document in SAMPLES.items():
            file.write_text(json.dumps(document), encoding="utf-8")
            counter = memory.change_counter
            tried = memory.exchange.load_foreign(file, dry_run=True)
            assert memory.change_counter == counter and tried.operation is None and adds_up(tried), name
            done = memory.exchange.load_foreign(file)
            assert done.operation is not None and adds_up(done)
            assert tried == replace(
                done, dry_run=True, operation=None, records=tuple(replace(one, stored=None) for one in done.records)
            )
            again = memory.exchange.load_foreign(file)
            assert (again.added, again.known, again.operation) == (0, done.added, None)
        assert memory.verify().ok
        memory.undo(done.operation or 0)
        assert memory.exchange.load_foreign(file, dry_run=True).known == 0


def test_each_page_shows_a_document_that_its_importer_reads_whole() -> None:
    page = (Path(__file__).parents[2] / "docs" / "importing.md").read_text(encoding="utf-8")
    shown = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", page, flags=re.DOTALL)]
    found = [read_document(one, OPTIONS) for one in shown]
    assert [one.format for one in found] == [one.name for one in IMPORTERS]
    assert all(drafts(one) and not one.left_out for one in found)


def test_messages_keep_their_times_their_speakers_and_their_order() -> None:
    found = drafts(read_document(CHATGPT, OPTIONS))
    assert [one.meta["speaker"] for one in found] == ["User", "Assistant", "python", "Assistant"]
    assert found[0].created_at == datetime(2025, 1, 1, 8, 30, 1, 500_000, UTC)
    assert found[3].created_at == found[2].created_at  # the last message tells no time
    assert [one.meta.get("follows") for one in found[1:]] == [one.meta["source"] for one in found[:-1]]
    assert found[1].meta["original"]["metadata"] == {"model_slug": "gpt-4o"}


def test_lines_that_wrap_messages_are_one_conversation() -> None:
    found = drafts(read_document(ANTHROPIC, OPTIONS))
    assert [one.content.split("(")[0] for one in found] == [
        "User: Rename the dome module.",
        "Assistant: I rename it.\n\nBash",
    ]


def test_a_circle_of_parents_ends_and_is_named() -> None:
    data = copy.deepcopy(CHATGPT)
    data[0]["mapping"]["n1"]["parent"] = "n3"
    found = read_document(data, OPTIONS)
    assert any("circle" in one.reason for one in found.left_out)
    assert found.count_taken("message") == 4


def edited(*, leaf: str = "", times: bool = True) -> list[dict[str, Any]]:
    """A conversation of Claude in which the second question was edited, and then the first answer given anew."""
    said = [
        ("a", "human", "Which glaze?", "root"),
        ("b", "assistant", "The blue one.", "a"),
        ("c", "human", "How hot?", "b"),
        ("d", "assistant", "At 900.", "c"),
        ("e", "human", "How long?", "b"),
        ("f", "assistant", "For six hours.", "e"),
        ("g", "assistant", "The green one.", "a"),
    ]
    messages = []
    for n, (id, sender, words, parent) in enumerate(said):
        content = [{"type": "text", "text": words}]
        one = {"uuid": id, "sender": sender, "text": "", "content": content, "parent_message_uuid": parent}
        messages.append(one | ({"created_at": f"2026-09-01T10:0{n}:00Z"} if times else {}))
    about = {"uuid": "k2", "name": "Glaze", "summary": "Of glazes.", "chat_messages": messages}
    return [about | ({"current_leaf_message_uuid": leaf} if leaf else {})]


@pytest.mark.parametrize("times", [True, False])
@pytest.mark.parametrize(
    ("leaf", "says"),
    [
        ("", ["User: Which glaze?", "Assistant: The green one."]),
        ("f", ["User: Which glaze?", "Assistant: The blue one.", "User: How long?", "Assistant: For six hours."]),
    ],
)
def test_of_a_conversation_of_claude_the_last_branch_is_taken(leaf: str, says: list[str], times: bool) -> None:
    found = read_document(edited(leaf=leaf, times=times), OPTIONS)
    assert [one.content for one in drafts(found)] == says
    assert found.found["message"] == 7 and found.count_taken("message") == len(says)


@pytest.mark.parametrize("ending", ["memory.json", "memory.jsonl"])
@pytest.mark.parametrize("lines", [True, False])
def test_the_graph_of_the_mcp_memory_server_is_read(ending: str, lines: bool, tmp_path: Path) -> None:
    whole = {"entities": MCP[:2], "relations": MCP[2:]}
    file = tmp_path / ending
    file.write_text("\n".join(map(json.dumps, MCP)) + "\n{torn" if lines else json.dumps(whole), encoding="utf-8")
    with open_memory() as memory:
        done = memory.exchange.load_foreign(file)
    assert (done.format, done.added) == ("mcp", 4)
    assert len(done.left_out) == lines  # the torn line
    told = {one.kind: (one.found, one.taken) for one in done.records}
    assert (told["entity"], told["observation"], told["relation"]) == ((1, 1), (2, 2), (1, 1))


def test_what_no_longer_holds_is_superseded_and_stays_so_through_consolidation() -> None:
    adidas, puma = "Kendra loves Adidas shoes", "Kendra prefers Puma shoes"
    told = [
        {"id": "a", "memory": adidas, "created_at": "2025-01-01T09:00:00Z", "expiration_date": "2025-02-02T09:00:00Z"},
        {"id": "b", "memory": puma, "created_at": "2025-02-02T09:00:00Z"},
    ]
    with open_memory() as memory:
        memory.exchange.load_foreign_documents([ForeignDocument("", told)])
        memory.consolidate()
        assert memory.verify().ok
        hits = {hit.block.content: hit.block for hit in memory.search("Kendra shoes").hits}
        assert hits[adidas].superseded and not hits[puma].superseded
        assert hits[adidas].valid_to == datetime(2025, 2, 2, 9, tzinfo=UTC)


def test_scopes_and_tags_are_kept() -> None:
    now = by_text(read_document(MEM0, OPTIONS))["Alex is vegetarian"]
    assert now.meta["user_id"] == "alex" and now.meta["tags"] == ["food"] and now.valid_to is None
    assert now.meta["original"]["metadata"] == {"city": "Ulm"}


def test_a_message_that_is_too_long_is_split_and_nothing_of_it_is_lost() -> None:
    data = copy.deepcopy(OPENAI)
    words = [f"word{n}" for n in range(2000)]
    data["messages"] = [{"role": "user", "content": " ".join(words)}]
    found = drafts(read_document(data, OPTIONS))
    assert len(found) > 5 and all(len(one.content) <= 1700 for one in found)
    assert " ".join(one.content.removeprefix("User: ") for one in found).split() == words


def test_lines_of_json_are_a_document_and_a_bad_line_is_named(tmp_path: Path) -> None:
    file = tmp_path / "log.jsonl"
    lines = [json.dumps({"messages": [{"role": "user", "content": text}]}) for text in ("one", "two")]
    file.write_text("\n".join([lines[0], "{broken", "", lines[1]]), encoding="utf-8")
    with open_memory() as memory:
        done = memory.exchange.load_foreign(file)
    assert done.format == "messages" and done.added == 2 and adds_up(done)
    assert [(one.path, one.kind) for one in done.left_out] == [("line 2", "message")]


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        (b'{"a": 1, "a": 2}', "stands twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b"\xff{}", "not UTF-8"),
        (b"PK\x03\x04rest", "archive"),
        (b'[{"role": "user", "con', "not whole JSON"),
        (b"[]", "no known format"),
        (b'{"hello": "world"}', "no export of mem0, ChatGPT, Claude"),
        (b'[{"mapping": {}}, {"chat_messages": []}]', "chatgpt and claude"),
    ],
)
def test_a_file_that_cannot_be_told_is_refused_with_a_way_out(tmp_path: Path, raw: bytes, told: str) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(raw)
    with open_memory() as memory:
        counter = memory.change_counter
        with pytest.raises(InputError) as caught:
            memory.exchange.load_foreign(file)
        assert told in str(caught.value) and caught.value.way_out
        assert memory.change_counter == counter


HOSTILE: st.SearchStrategy[Any] = st.sampled_from(
    [
        None,
        True,
        -1,
        10**40,
        float("nan"),
        float("inf"),
        "",
        "\ud800",
        "n1",
        "#1",
        "9999-12-31T23:59:59-14:00",
        "2025-13-45",
        [],
        [None],
        {},
        {"type": []},
        [[[[[[[[[[["deep"]]]]]]]]]]],
    ]
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a document."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(place for key, one in below for place in places(one, (*path, key)))]


def damaged(sample: Any, data: st.DataObject) -> Any:
    """A document with other values in a few of its places."""
    document = copy.deepcopy(sample)
    for _ in range(data.draw(st.integers(1, 3))):
        *way, last = data.draw(st.sampled_from([place for place in places(document) if place]))
        inside = document
        for key in way:
            inside = inside[key]
        inside[last] = copy.deepcopy(data.draw(HOSTILE))
    return document


@given(st.sampled_from(FORMATS), st.data())
def test_whatever_stands_in_a_document_each_record_is_taken_or_named(name: ForeignFormat, data: st.DataObject) -> None:
    try:
        found = read_document(damaged(SAMPLES[name], data), OPTIONS, name)
    except InputError:
        return  # nothing of the format is left in it
    for kind, count in found.found.items():
        assert 0 <= found.count_taken(kind) <= count
        assert found.count_taken(kind) <= max(len(found.drafts[kind]), kind == "conversation" and count)
    for conversation in found.conversations:
        messages = [message for message, _ in conversation.messages]
        assert read_messages(messages, NOW).messages == tuple(messages)


@settings(max_examples=2, deadline=None)
@given(st.data())
def test_whatever_was_taken_from_a_document_lies_in_the_store(data: st.DataObject) -> None:
    with open_memory() as memory:
        for name in FORMATS:
            try:
                done = memory.exchange.load_foreign_documents([ForeignDocument("", damaged(SAMPLES[name], data))], name)
            except InputError:
                continue
            assert adds_up(done)
        assert memory.verify().ok


def test_a_project_of_claude_brings_its_instructions_and_documents() -> None:
    document = {"filename": "piers.md", "content": "Pier 7 is ours.", "created_at": "2026-09-01T10:00:00Z"}
    project = {
        "name": "Ferry",
        "prompt_template": "Be short.",
        "docs": [document],
        "created_at": "2026-08-01T10:00:00Z",
    }
    records = read_document([project], IngestSettings())
    assert records.found == {"instructions": 1, "document": 1}
    drafts = [draft for kind in records.drafts.values() for draft in kind]
    assert [draft.content for draft in drafts] == ["Be short.", "Pier 7 is ours."]
    assert [draft.created_at for draft in drafts] == [datetime(2026, month, 1, 10, tzinfo=UTC) for month in (8, 9)]


def test_of_a_conversation_of_chatgpt_hidden_words_are_not_the_user_s_and_marks_of_sources_go() -> None:
    def node(number: int, role: str, words: str, **about: bool) -> dict[str, Any]:
        content = {"content_type": "text", "parts": [words]}
        message = {"author": {"role": role}, "content": content, "metadata": about}
        return {"parent": f"n{number - 1}" if number else None, "message": message}

    hidden = node(0, "user", "Retry.", is_visually_hidden_from_conversation=True)
    nodes = [hidden, node(1, "user", "Where?"), node(2, "assistant", "North \ue200cite\ue202turn0search0\ue201.")]
    data = [{"mapping": {f"n{number}": one for number, one in enumerate(nodes)}, "current_node": "n2"}]
    (conversation,) = read_document(data, IngestSettings()).conversations
    told = [(message.role, message.text) for message, _ in conversation.messages]
    assert told == [("system", "Retry."), ("user", "Where?"), ("assistant", "North.")]


def test_parts_of_claude_that_nobody_says_leave_nothing() -> None:
    parts = [{"type": "token_budget"}, {"type": "text", "text": "Pier 7."}, {"type": "flag", "flag": "x"}]
    message = {"uuid": "m", "sender": "assistant", "content": parts, "created_at": "2026-09-01T10:00:00Z"}
    records = read_document([{"uuid": "k", "chat_messages": [message]}], IngestSettings())
    assert [one.text for conversation in records.conversations for one, _ in conversation.messages] == ["Pier 7."]
    assert records.left_out == ()
