"""A memory leaves as a file and comes back with every row, or not at all."""

from __future__ import annotations

import contextlib
import json
import shlex
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Any, Literal

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from amgs.clock import FixedClock
from amgs.errors import AmgsError, InputError, StoreCorruptError, StoreTooNewError, UsageError
from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.settings import PruningSettings
from amgs.wing_registry import wings
from amgs_app import cli
from tests.engine.lifecycle_world import EVERY
from tests.engine.memory_world import NOW, consolidated, open_memory, table_rows

FORMS: tuple[Literal["json", "graphml"], ...] = ("json", "graphml")


def rows(memory: Memory) -> dict[str, list[Any]]:
    """Every row of every table, but for what belongs to the store itself."""
    store = memory._storage
    found = {
        table: [*table_rows(store, table, columns)]
        for table, columns in store.tables.schema().items()
        if table != "change_counter"
    }
    found["meta"] = sorted(row for row in found["meta"] if row[0] != "store_id")
    return found


@pytest.mark.parametrize("form", FORMS)
def test_everything_comes_back_and_answers_as_before(tmp_path: Path, form: Literal["json", "graphml"]) -> None:
    path = tmp_path / "m.export"
    with consolidated(tmp_path / "notes") as memory:
        frame = memory.assemble("SESSION", query="dome valve")
        memory.feedback(frame.selected[0].block.id, useful=True)
        memory.ingest_text("raw and\x01 strange \r\n \x1b[0m ]]> & < \u2028 שלום 🎉 json:{}")
        memory.ingest_text('json:"coded"')
        done = memory.exchange.export(path, form)
        wanted, hits = rows(memory), memory.search("dome valve").hits
        assert done.bytes == path.stat().st_size and not list(tmp_path.glob("*.part"))
    with open_memory(tmp_path / "other.duckdb") as other:
        other.search("nothing")
        assert other.exchange.load(path).form == form
        assert rows(other) == wanted
        assert [(h.block.id, h.score) for h in other.search("dome valve").hits] == [(h.block.id, h.score) for h in hits]
        assert other.verify().ok and other.frames.why_then(frame.id, frame.selected[0].block.id).admitted
        other.undo(2)
        assert other.verify().ok


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.text(min_size=1).filter(str.strip), min_size=1, max_size=4),
    st.dictionaries(st.text(max_size=5), st.text() | st.integers(-5, 5) | st.none(), max_size=3),
    st.sampled_from(FORMS),
)
def test_any_text_and_metadata_come_back(
    tmp_path: Path, texts: list[str], meta: dict[str, Any], form: Literal["json", "graphml"]
) -> None:
    path = tmp_path / "any"
    with open_memory() as memory, open_memory() as other:
        memory.ingest_many([RawBlock(text, NOW, meta) for text in texts])
        memory.exchange.export(path, form)
        other.exchange.load(path)
        assert rows(other) == rows(memory)


@pytest.mark.parametrize("form", FORMS)
def test_a_changed_block_is_refused_and_nothing_is_imported(tmp_path: Path, form: Literal["json", "graphml"]) -> None:
    path = tmp_path / "m"
    with consolidated(tmp_path / "notes") as memory:
        memory.exchange.export(path, form)
    path.write_text(path.read_text(encoding="utf-8").replace("azimuth 200", "azimuth 201"), encoding="utf-8")
    with open_memory() as other:
        before = rows(other)
        with pytest.raises(StoreCorruptError, match="1 block of the file does not hash"):
            other.exchange.load(path)
        assert rows(other) == before


def test_other_files_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    with consolidated(tmp_path / "notes") as memory:
        memory.exchange.export(path)
        with pytest.raises(UsageError, match="already holds"):
            memory.exchange.load(path)
        with pytest.raises(InputError, match="cannot be written"):
            memory.exchange.export(tmp_path / "missing" / "m.json")
    text = path.read_text(encoding="utf-8")
    newer = text.replace('"schema": ', '"schema": 9')
    for content, error in (
        ("", InputError),
        ("[]", InputError),
        (text[:-100], InputError),
        ("<graphml/>", InputError),
        ("<broken", InputError),
        (newer, StoreTooNewError),
        (text.replace('"edges": {', '"hedges": {'), InputError),
    ):
        path.write_text(content, encoding="utf-8")
        with open_memory() as other, pytest.raises(error):
            other.exchange.load(path)


LONG = "\n\n".join(f"Buoy {n} lies {n} cables off the mole and is painted white." for n in range(90))


def unname_texts(memory: Memory) -> None:
    """Put sources as they were written once: every long text whose source nobody named had the source ''."""
    connection = memory._storage.tables._connection
    with memory.transaction():
        connection.execute("UPDATE source_blocks SET source = '' WHERE source LIKE 'text-%'")
        connection.execute("UPDATE sources SET name = '', path = '' WHERE name LIKE 'text-%'")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("many", [False, True], ids=["one", "many"])
def test_a_long_text_without_a_name_comes_back(tmp_path: Path, form: Literal["json", "graphml"], many: bool) -> None:
    with open_memory() as memory:
        if many:
            memory.ingest_texts([(LONG, None, {"source": None}), ("A short one.", None, {"source": " "})])
        else:
            memory.ingest_text(LONG)
        (name,) = [one.name for one in memory.sources.list()]
        assert name.startswith("text-") and memory.verify().ok
        memory.exchange.export(tmp_path / "m", form)
        wanted = rows(memory)
    with open_memory() as other:
        other.exchange.load(tmp_path / "m")
        assert rows(other) == wanted


@pytest.mark.parametrize("form", FORMS)
def test_a_backup_from_before_long_texts_had_names_comes_back_whole(
    tmp_path: Path, form: Literal["json", "graphml"]
) -> None:
    old, path = tmp_path / "old.duckdb", tmp_path / "m"
    with open_memory(old) as memory:
        memory.ingest_text(LONG)
        wanted = rows(memory)
        unname_texts(memory)
        assert [one.name for one in memory.sources.list()] == [""]
        memory.exchange.export(path, form)
    with open_memory() as other:
        other.exchange.load(path)
        assert rows(other) == wanted and other.verify().ok


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("UPDATE memory_blocks SET category = ''", "category is ''"),
        ("UPDATE edges SET relation_type = ''", "relation_type is ''"),
        ("UPDATE operation_rows SET key = ''", "key is ''"),
        ("INSERT INTO meta VALUES ('highest_number', 'many')", "highest_number is 'many'"),
    ],
)
def test_what_an_import_would_refuse_is_a_fault(tmp_path: Path, change: str, told: str) -> None:
    with consolidated(tmp_path / "notes") as memory:
        with memory.transaction():
            memory._storage.tables._connection.execute(change)
        assert any(told in f"{one.where} {one.what}" for one in memory.verify().faults)
        memory.exchange.export(tmp_path / "m")
    with open_memory() as other, pytest.raises(AmgsError):
        other.exchange.load(tmp_path / "m")


@pytest.fixture(scope="module")
def exports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a small memory in both forms."""
    folder = tmp_path_factory.mktemp("exports")
    with consolidated(folder / "notes") as memory:
        memory.assemble("SESSION", query="dome valve")
        for form in FORMS:
            memory.exchange.export(folder / form, form)
    return folder


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.sampled_from(FORMS),
    st.floats(0, 1),
    st.integers(0, 40),
    st.one_of(
        st.binary(max_size=6),
        st.sampled_from([b"null", b"-1", b"1e999", b"NaN", b'"x"', b"[[", b"]", b"{}", b"\\ud800", b"0"]),
    ),
)
@example("graphml", 0.23828125, 0, b" ")
@example("graphml", 0.2414346340198042, 0, b" ")
def test_a_damaged_file_is_refused_whole_or_holds_together(
    tmp_path: Path, exports: Path, form: str, where: float, lost: int, instead: bytes
) -> None:
    whole = (exports / form).read_bytes()
    at = int(where * len(whole))
    path = tmp_path / "damaged"
    path.write_bytes(whole[:at] + instead + whole[at + lost :])
    with open_memory() as memory:
        before = rows(memory)
        try:
            memory.exchange.load(path)
        except AmgsError as error:
            assert error.message and error.way_out
            assert rows(memory) == before
        assert memory.verify().ok
        memory.assemble("SESSION", query="dome", reinforce=False)


TEXTS = (
    "The ferry Alder leaves from pier 4.",
    "The ferry Alder leaves from pier 7 now, no longer from pier 4.",
    "Ilse is allergic to walnuts.",
    "# Weir\n\n" + "\n\n".join(f"Gate {n} of the weir was greased on day {n} with tallow." for n in range(60)),
    "é \x00 \u2028 🎉 שלום",
    "User: The barn is red.",
)
Step = Callable[[Memory, Random], object]


def _some(memory: Memory, chance: Random) -> str:
    """A block, in whatever state."""
    blocks = sorted(memory.blocks(EVERY), key=lambda block: block.id)
    if not blocks:
        raise UsageError("There is none.", way_out="")
    return chance.choice(blocks).id


def _tell(memory: Memory, chance: Random) -> object:
    meta: dict[str, Any] = {
        key: chance.choice(values)
        for key, values in (
            ("source", ["", " ", "log", "log#2", "#3", "a/b.md"]),
            ("title", ["", "Weir", 7]),
            ("tags", ["one", ["a", "b"], []]),
            ("weight", [1.5, None, [[{}]]]),
        )
        if chance.random() < 0.4
    }
    at = chance.choice([None, NOW, NOW - timedelta(days=400), NOW + timedelta(days=2)])
    return memory.ingest_text(chance.choice(TEXTS), created_at=at, meta=meta)


def _consolidate(memory: Memory, chance: Random) -> object:
    return memory.apply_consolidation(memory.plan_consolidation())


def _set(memory: Memory, chance: Random) -> object:
    changes: list[dict[str, Any]] = [
        {"status": "archived"},
        {"status": "pruned"},
        {"status": "consolidated"},
        {"category": "berth"},
        {"confidence": 0.0},
        {"decay_lambda": 0.0},
    ]
    return memory.set_metadata(_some(memory, chance), **chance.choice(changes))


def _review(memory: Memory, chance: Random) -> object:
    life = memory.lifecycle
    life.apply_review(life.plan_review())
    return [life.accept(item.review.id) for item in life.reviews()[:1]]


def _prune(memory: Memory, chance: Random) -> object:
    hard = chance.random() < 0.5
    loose = PruningSettings(relevance=1.0, centrality=1.0, confidence=1.0)
    memory.settings = memory.settings.model_copy(update={"pruning": loose})
    plan = memory.lifecycle.plan_pruning(hard=hard)
    return memory.lifecycle.apply_pruning(plan)


def _use(memory: Memory, chance: Random) -> object:
    frame = memory.assemble("SESSION", query=chance.choice(["", "pier", "weir \x00"]), budget=200)
    return [memory.feedback(one.block.id, useful=chance.random() < 0.5) for one in frame.selected[:1]]


def _undo(memory: Memory, chance: Random) -> object:
    return memory.undo(chance.choice(memory.operations()).id)


def _revise(memory: Memory, chance: Random) -> object:
    name = chance.choice([*(one.name for one in memory.sources.list()), "none"])
    text = chance.choice(["", *TEXTS])
    library = memory.sources
    return library.apply(library.plan_text(name, text) if text else library.plan_delete([name]))


def _talk(memory: Memory, chance: Random) -> object:
    text = chance.choice(["", *TEXTS])
    memory.conversation.add("pier", [{"speaker": chance.choice(["", "Ilse"]), "text": text}])
    memory.conversation.keep("pier", "#1")
    return chance.random() < 0.5 and memory.conversation.clear("pier")


def _keep_pack(memory: Any, chance: Random) -> object:
    memory.packs.keep("pier", blocks=[_some(memory, chance)])
    return memory.packs.outcome(*memory.packs.assemble(pack="pier").uses)


def _enhance(memory: Memory, chance: Random) -> object:
    return memory.lifecycle.apply_enhancement(memory.lifecycle.plan_enhancement())


STEPS: dict[str, Step] = {
    "tell": _tell,
    "tell again": _tell,
    "consolidate": _consolidate,
    "set": _set,
    "review": _review,
    "prune": _prune,
    "use": _use,
    "undo": _undo,
    "revise": _revise,
    "talk": _talk,
    "enhance": _enhance,
    "delete": lambda memory, chance: memory.lifecycle.delete([_some(memory, chance)]),
    "erase": lambda memory, chance: memory.erasure.erase([_some(memory, chance)]),
    "search": lambda memory, chance: memory.search("pier\x00", top_k=chance.randint(0, 3), keep=True),
    "tag": lambda memory, chance: memory.tag(_some(memory, chance), ["one"]),
    "note": lambda memory, chance: memory.note(_some(memory, chance), " by hand "),
    "edge": lambda memory, chance: memory.add_edge(_some(memory, chance), _some(memory, chance), kind="depends_on"),
    "frame": lambda memory, chance: memory.define_frame(
        replace(memory.frame_definitions()[0], name="OWN", budget=chance.choice([0, 300, 2**60]))
    ),
}
"""What people and programs do to a memory."""
if "packs" in wings():
    STEPS["pack"] = _keep_pack


@settings(
    max_examples=3, deadline=None, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.integers(0, 2**32), st.sampled_from(FORMS))
def test_whatever_was_done_comes_back_value_by_value(tmp_path: Path, seed: int, form: Any) -> None:
    chance, clock, path = Random(seed), FixedClock(NOW), tmp_path / "backup"
    with Memory.open(":memory:", clock=clock) as memory:
        for name in [*["tell"] * 4, *chance.choices(sorted(STEPS), k=30)]:
            clock.advance(timedelta(hours=7))
            with contextlib.suppress(AmgsError):  # refused: nothing was changed
                STEPS[name](memory, chance)
        memory.ingest_text("A last word, so that there is one.")
        wanted, faults = rows(memory), memory.verify().faults
        memory.exchange.export(path, form)
    with open_memory() as other:
        other.exchange.load(path)
        assert rows(other) == wanted and faults == ()


COMMANDS = (
    "ingest 'The ferry Alder leaves from pier {n}.'",
    "ingest 'The ferry Alder leaves from pier {n} now.' --date 2026-02-0{n}T22:30:00-06:00",
    "conversation add pier {talk}",
    "consolidate",
    "enhance --apply",
    "review --scan",
    "review --accept {n}",
    "search 'Alder pier'",
    "frame assemble ATTENTION --query pier",
    "undo {n}",
    "pack keep pier{n} 'Alder pier'",
)


def test_what_commands_did_comes_back_value_by_value(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    chance, backup = Random(1), str(tmp_path / "backup.json")
    stores, talk = [tmp_path / "one.duckdb", tmp_path / "two.duckdb"], tmp_path / "talk.json"
    talk.write_text(json.dumps([{"speaker": "Ilse", "text": "Yesterday it was pier 2."}]), encoding="utf-8")

    def run(store: Path, *words: str, hour: int = 0) -> int:
        now = (NOW + timedelta(hours=hour)).isoformat()
        return cli.run(["--model", "tiny", "--now", now, "--store", str(store), *words])

    for store in stores:
        chosen = [*COMMANDS[:4], *chance.choices(COMMANDS, k=8)]
        codes = [
            run(store, *shlex.split(command.format(n=chance.randint(1, 3), talk=talk)), hour=7 * n)
            for n, command in enumerate(chosen)
        ]
        assert codes[:4] == [0] * 4, capsys.readouterr()
        other = store.with_name(f"of-{store.name}")
        assert run(store, "export", backup) == 0, capsys.readouterr()
        assert run(other, "import", backup) == 0, capsys.readouterr()
        with open_memory(store) as first, open_memory(other) as second:
            assert rows(first) == rows(second) and first.verify().faults == ()


def test_nesting_without_end_is_a_damaged_file(tmp_path: Path) -> None:
    path = tmp_path / "deep"
    for content in ("[" * 200_000, '{"form": "amgs memory", "x": ' + "[" * 200_000, "<a>" * 200_000):
        path.write_text(content, encoding="utf-8")
        with open_memory() as memory, pytest.raises(InputError, match="damaged"):
            memory.exchange.load(path)
