"""A day is the writer's: what a text says of "yesterday" counts from the day on its writer's calendar."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from amgs.clock import FixedClock, parse_instant
from amgs.memory import Memory
from amgs.settings import Settings
from amgs.types import Block, BlockFilter

LIVE = BlockFilter(statuses=("consolidated",))


def opened(now: str, time_zone: str = "", path: Path | str = ":memory:") -> Memory:
    return Memory.open(path, clock=FixedClock(parse_instant(now)), settings=Settings(time_zone=time_zone))


def blocks(memory: Memory) -> tuple[Block, ...]:
    memory.consolidate()
    return tuple(memory.blocks(LIVE))


def days(memory: Memory) -> dict[str, str]:
    """The day that each text tells of, by its first word."""
    found = blocks(memory)
    return {b.content.rpartition(": ")[2].split()[0]: str(b.meta["dates"][0]).split()[0] for b in found}


@pytest.mark.parametrize(
    ("now", "zone", "text", "day"),
    [
        ("2026-03-02T22:30:00-06:00", "", "Yesterday I checked the moorings.", "2026-03-01"),
        ("2026-03-03T04:30:00Z", "", "Yesterday I checked the moorings.", "2026-03-02"),
        ("2026-03-03T04:30:00Z", "America/Chicago", "Yesterday I checked the moorings.", "2026-03-01"),
        ("2026-03-03T07:00:00+09:00", "", "Today the gate was oiled.", "2026-03-03"),
        ("2026-03-02T22:00:00Z", "Asia/Tokyo", "Tonight the gate is oiled.", "2026-03-03"),
        ("2026-03-03T07:00:00+09:00", "America/Chicago", "Today the gate was oiled.", "2026-03-03"),
        ("2026-03-02T20:00:00Z", "Asia/Kolkata", "Today the gate was oiled.", "2026-03-03"),
        ("2026-03-02T18:20:00Z", "Asia/Kathmandu", "Today the gate was oiled.", "2026-03-03"),
        ("2026-03-02T10:30:00Z", "Pacific/Kiritimati", "Today the gate was oiled.", "2026-03-03"),
        ("2026-03-03T09:30:00Z", "Pacific/Pago_Pago", "Today the gate was oiled.", "2026-03-02"),
        ("2026-07-02T22:30:00Z", "Europe/Berlin", "Today the gate was oiled.", "2026-07-03"),
        ("2026-01-02T22:30:00Z", "Europe/Berlin", "Today the gate was oiled.", "2026-01-02"),
        ("2026-03-29T00:30:00Z", "Europe/Berlin", "Yesterday the gate was oiled.", "2026-03-28"),
        ("2026-11-01T05:30:00Z", "America/New_York", "Yesterday the gate was oiled.", "2026-10-31"),
        ("2026-03-02T22:30:00-06:00", "", "Vorgestern wurde das Tor geölt.", "2026-02-28"),
        ("2026-03-02T22:30:00-06:00", "", "Letzte Nacht wurde das Tor geölt.", "2026-03-01"),
        ("2026-03-02T22:30:00-06:00", "", "Ayer llovió.", "2026-03-01"),
        ("2026-03-02T22:30:00-06:00", "", "Chris Hoy won yesterday.", "2026-03-01"),
        ("2026-03-02T22:30:00-06:00", "", "Hoy won gold 3 days ago.", "2026-02-27"),
        ("2026-03-02T22:30:00-06:00", "", "Heute Nacht fliegen wir nach Rom.", "2026-03-02"),
        ("2026-03-02T22:30:00-06:00", "", "Cette nuit il va neiger.", "2026-03-02"),
        ("2026-03-02T22:30:00-06:00", "", "Hier soir on a huilé la porte.", "2026-03-01"),
        *(
            ("2026-03-02T22:30:00-06:00", "", text, day)
            for text, day in (
                ("This morning the gate was oiled.", "2026-03-02"),
                ("We sail this evening.", "2026-03-02"),
                ("Morgen früh segeln wir.", "2026-03-03"),
                ("Ich segle morgen mit dem Boot.", "2026-03-03"),
                ("Mañana salimos.", "2026-03-03"),
                ("Pasado mañana salimos.", "2026-03-04"),
                ("Hace tres días llovió.", "2026-02-27"),
                ("Il y a trois jours il a plu.", "2026-02-27"),
                ("Ieri è piovuto.", "2026-03-01"),
                ("Amanhã partimos.", "2026-03-03"),
                ("Gisteren regende het.", "2026-03-01"),
                ("I dag er det regn.", "2026-03-02"),
                ("Вчера шёл дождь.", "2026-03-01"),
                ("Wczoraj padało.", "2026-03-01"),
            )
        ),
        ("2026-03-06T23:30:00-06:00", "", "Last Friday the gate was oiled.", "2026-02-27"),
    ],
)
def test_a_typed_text_counts_from_its_writers_day(now: str, zone: str, text: str, day: str) -> None:
    with opened(now, zone) as memory:
        memory.ingest_text(text)
        (block,) = blocks(memory)
        assert block.meta["dates"] == [f"{day} {'0.85' if 'Friday' in text else '0.95'}"]
        assert block.created_at == parse_instant(now) and block.created_at.utcoffset() == UTC.utcoffset(None)


def test_files_and_their_turns_carry_their_own_offset_or_take_the_zone(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("---\ndate: 2026-03-02T22:30:00-10:00\n---\nYesterday the hull was dry.")
    (tmp_path / "b.md").write_text("---\ndate: 2026-03-05\n---\nTomorrow the mast is up.")
    (tmp_path / "c.md").write_text("---\ndate: 2026-03-09 23:50\n---\nTonight the sail is hung.")
    turns = [
        {"speaker": "Olga", "text": "Two days ago we rowed.", "date": "2026-03-12T22:30:00-06:00"},
        {"speaker": "Olga", "text": "Last night I slept.", "date": "2026-03-20T22:30:00Z"},
        {"speaker": "Olga", "text": "Today I swam.", "ts": datetime(2026, 3, 24, 22, tzinfo=UTC).timestamp()},
    ]
    (tmp_path / "d.jsonl").write_text("\n".join(json.dumps(turn) for turn in turns))
    with opened("2026-04-01T00:00:00Z", "Asia/Tokyo") as memory:
        memory.ingest_folder(tmp_path)
        told = days(memory)
        offsets = {b.content.split()[-1]: b.meta.get("utc_offset") for b in blocks(memory)}
    assert told == {
        "Yesterday": "2026-03-01",
        "Tonight": "2026-03-09",
        "Tomorrow": "2026-03-06",
        "Two": "2026-03-10",
        "Today": "2026-03-25",
        "Last": "2026-03-20",
    }
    assert offsets["dry."] == "-10:00" and offsets["up."] is None and offsets["slept."] == "+09:00"


def test_a_conversation_counts_from_the_day_of_each_message_and_keeps_its_offset(tmp_path: Path) -> None:
    path = tmp_path / "s.duckdb"
    with opened("2026-03-06T12:00:00Z", "America/Los_Angeles", path) as memory:
        memory.conversation.add(
            "lake",
            [
                {"role": "user", "content": "Yesterday I swam.", "timestamp": "2026-03-05T04:30:00Z"},
                {"role": "user", "content": "Tonight we sail.", "timestamp": "2026-03-05T23:30:00+09:00"},
            ],
        )
        assert days(memory) == {"Yesterday": "2026-03-03", "Tonight": "2026-03-05"}
    with opened("2026-03-06T12:00:00Z", path=path) as memory:
        assert {b.written.isoformat()[-6:] for b in memory.blocks(LIVE)} == {"-08:00", "+09:00"}


def test_a_session_counts_from_the_day_of_each_turn(tmp_path: Path) -> None:
    turns = [
        ("Yesterday I caulked the hull.", "2026-03-05T22:30:00-06:00"),
        ("Tonight the mast is set.", "2026-03-08T04:30:00Z"),
        ("Tomorrow we paint.", "2026-03-10T23:00:00+00:00"),
    ]
    lines = [
        {"type": "session", "version": 3, "id": "s", "timestamp": turns[0][1], "cwd": "/yard"},
        *(
            {
                "type": "message",
                "id": str(number),
                "parentId": str(number - 1) if number else None,
                "timestamp": at,
                "message": {"role": "user", "content": text},
            }
            for number, (text, at) in enumerate(turns)
        ),
    ]
    path = tmp_path / "s.jsonl"
    path.write_text("\n".join(map(json.dumps, lines)))
    with opened("2026-03-12T12:00:00Z", "Asia/Tokyo") as memory:
        memory.exchange.load_foreign(path)
        assert days(memory) == {"Yesterday": "2026-03-04", "Tonight": "2026-03-08", "Tomorrow": "2026-03-12"}


def test_an_import_of_seconds_counts_in_the_zone_of_who_imports(tmp_path: Path) -> None:
    said = {
        "author": {"role": "user"},
        "create_time": datetime(2026, 3, 4, 5, tzinfo=UTC).timestamp(),
        "content": {"content_type": "text", "parts": ["Yesterday I planted a fig tree."]},
    }
    nodes: dict[str, object] = {"b": {"id": "b", "parent": None, "children": [], "message": said | {"id": "b"}}}
    export = [{"title": "Figs", "conversation_id": "i", "current_node": "b", "mapping": nodes}]
    (tmp_path / "c.json").write_text(json.dumps(export))
    with opened("2026-03-06T12:00:00Z", "America/Chicago") as memory:
        memory.exchange.load_foreign(tmp_path / "c.json")
        assert days(memory) == {"Yesterday": "2026-03-02"}


def test_a_question_asks_for_the_days_of_who_asks_and_finds_those_of_who_wrote() -> None:
    with opened("2026-03-03T22:30:00-06:00") as memory:
        memory.ingest_text("The moorings were checked.", created_at=parse_instant("2026-03-02T22:30:00-06:00"))
        memory.ingest_text("The gate was oiled.", created_at=parse_instant("2026-03-01T22:30:00-06:00"))
        memory.ingest_text("The hall was swept.", created_at=parse_instant("2026-03-03T07:00:00+09:00"))
        memory.consolidate()
        hits = memory.search("what happened yesterday?").hits
        assert hits[0].block.content == "The moorings were checked."
        assert "prefilter" in hits[0].layers
        others = [hit for hit in hits[1:] if "prefilter" in hit.layers]
        assert not others
