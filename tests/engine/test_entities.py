"""What the memory knows by name: read out of the blocks, typed where cues agree, the same however it was caught up."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amgs.ingest.raw_blocks import RawBlock
from amgs.memory import Memory
from amgs.text.names import read_names
from tests.engine.memory_world import open_memory, write_notes

START = datetime(2025, 5, 1, tzinfo=UTC)


def filled(memory: Memory, *texts: str) -> Memory:
    """The texts as notes a day apart."""
    made = [RawBlock(text, START + timedelta(days=n), {"source": f"n{n}.md"}) for n, text in enumerate(texts)]
    memory.ingest_many(made)
    return memory


def held(memory: Memory) -> dict[str, tuple[str, tuple[str, ...], int]]:
    return {e.name: (e.type, e.aliases, e.mentions) for e in memory.entities.list(1000, min_mentions=1)}


def names_of(text: str) -> list[str]:
    with open_memory() as memory:
        return list(held(filled(memory, text)))


def test_markup_addresses_and_code_name_nothing() -> None:
    hidden = (
        '<a href="https://Example.org/Alpha">x</a> ![Beta](b.png) see https://Gamma.org or mail Delta@Epsilon.org\n\n'
        "```python\nfrom Zeta import Eta  # we met Theta there\n```\n\nwe call `Iota(Kappa)` "
        "and <!-- the Lambda hut -->\n\n"
        "| the Mu | by Nu |\n| --- | --- |\n"
    )
    assert names_of(hidden) == []
    assert names_of(f"we met Ilse Kern at noon.\n\n{hidden}") == ["Ilse Kern"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("when we asked Beppo for soup. Beppo cooks well", "Beppo"),
        ("they went to New York by train", "New York"),
        ("the keys of Ilse's house", "Ilse"),
        ("it is a letter of A. Lovelace to him", "A. Lovelace"),
        ("this is a NumPy-like array", "NumPy"),
        ("she rang the Bank of England twice", "Bank of England"),
    ],
)
def test_a_name_is_taken_whole_and_bare(text: str, name: str) -> None:
    assert names_of(text) == [name]


@pytest.mark.parametrize(
    "text", ["Hello there, it is late.", "## Getting Started Quickly", "on Monday in May", "TO DO"]
)
def test_what_only_opens_a_sentence_heads_a_page_or_says_when_is_no_name(text: str) -> None:
    assert names_of(text) == []


def test_a_first_name_is_an_alias_only_where_one_person_has_it() -> None:
    whole = "they asked my friend Ada Lovelace, who said she knew"
    short = ("we told Ada and her sister all of it", "a letter of A. Lovelace came", "then Ada Lovelace left")
    with open_memory() as memory:
        assert held(filled(memory, whole, *short)) == {"Ada Lovelace": ("person", ("A. Lovelace", "Ada"), 4)}
        filled(memory, "then my brother Ada Kern said he was ill")
        found = held(memory)
        assert {"Ada", "Ada Lovelace", "Ada Kern"} <= set(found)
        assert found["Ada Lovelace"][1] == ("A. Lovelace",)


def test_speakers_are_persons_and_what_they_are_called_is_counted(tmp_path: Path) -> None:
    talk = "---\nkind: dialogue\ndate: 2026-02-10\n---\n" + "".join(
        f"**{who}:** {text}\n\n"
        for who, text in [
            ("Ilse", "The dome stalls."),
            ("Tally", "Hey Ilse, since when?"),
            ("Ilse", "Since noon."),
            ("Tally", "Thanks Ilse!"),
        ]
    )
    with open_memory() as memory:
        memory.ingest_folder(write_notes(tmp_path, {"talk.md": talk, "x.md": "Licence: none here"}))
        assert {name: one[0] for name, one in held(memory).items()} == {"Ilse": "person", "Tally": "person"}


def test_what_is_known_comes_with_passages_dates_and_what_stands_beside(tmp_path: Path) -> None:
    door, bell = (
        "# Door\n\nWe asked Signe Holt for the key.\n",
        "# Bell\n\nThe bell of Signe Holt and Ove Lind rings.\n",
    )
    with open_memory() as memory:
        memory.ingest_folder(write_notes(tmp_path / "n", {"door.md": door, "bell.md": bell}))
        memory.consolidate()
        known = memory.entities.get("signe holt", order="time")
        assert known.entity.mentions == known.entity.blocks == len(known.mentions) == 2
        for one in known.mentions:
            ((start, end),) = one.passage.matches
            assert one.block.content[start:end] == "Signe Holt" and one.passage.start <= start
        assert [(one.name, one.shared) for one in known.related] == [("Ove Lind", 1)]
        write_notes(tmp_path / "n", {"door.md": door.replace("the key", "both of the long keys, twice")})
        memory.sources.apply(memory.sources.plan_folder(tmp_path / "n"))
        order = [one.block.superseded for one in memory.entities.get("Signe Holt").mentions]
        assert order == [False, False, True]
        assert len(memory.entities.get("Signe Holt", 1).mentions) == 1


def test_caught_up_is_the_same_as_read_anew(tmp_path: Path) -> None:
    """After additions, consolidation, a change of a source and an undo."""
    first = ["we met Signe Holt in Sundby. Soup is hot", "the Soup of Signe is famous in Sundby"]
    more = ["a soup for Ove Lind, soup and soup", "then we moved to Sundby with Ove"]
    path = tmp_path / "m.duckdb"

    def anew() -> object:
        with Memory.open(path, clock=memory.clock, read_only=True) as other:
            return other.entities.list(100, min_mentions=1)

    def then() -> object:
        return memory.entities.list(100, min_mentions=1)

    memory = open_memory(path)
    steps: list[Callable[[], object]] = [
        lambda: filled(memory, *first),
        lambda: filled(memory, *more),
        lambda: memory.apply_consolidation(memory.plan_consolidation()),
        lambda: memory.sources.apply(memory.sources.plan_text("n1.md", "nothing is left of it")),
        lambda: memory.undo(memory.operations(1)[0].id),
        lambda: memory.sources.apply(memory.sources.plan_delete(["n0.md"])),
    ]
    seen = []
    for step in steps:
        step()
        seen.append(then())
    memory.close()
    assert len({str(one) for one in seen}) > 3
    assert seen[-1] == anew()
    memory = open_memory(path)
    for operation in memory.operations(3)[:2]:
        if not operation.undone:
            memory.undo(operation.id)
            seen.append(then())
    memory.close()
    assert seen[-1] == anew()


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    reading, _ = read_names(text)
    assert all(use.text.strip() for use in reading.uses)
