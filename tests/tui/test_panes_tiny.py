"""The panes on the real engines with the tiny model: what an operator reads and presses, defect by defect."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from amgs_tui.panes.decay import DecayPane
from amgs_tui.panes.graph import GraphPane
from amgs_tui.screens.finder import Finder
from amgs_tui.session import Session
from tests.tui.app_drive import Drive
from tests.tui.test_app_tiny import on_session, options

TOPICS = ("dome", "night", "bread", "boiler", "tide", "owl")


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    """Twelve notes of six topics, two of which link to each other."""
    folder = tmp_path / "notes"
    folder.mkdir()
    for day, topic in enumerate(TOPICS * 2, 1):
        link = "Linked to [[dome1]]." if topic == "night" else ""
        name = f"{topic}{1 + (day > len(TOPICS))}"
        text = f"# The {topic}, part {name[-1]}\nWhat was seen of the {topic} on that day, in few words. {link}\n"
        (folder / f"{name}.md").write_text(f"---\ndate: 2026-02-{10 + day}\n---\n{text}")
    return folder


@asynccontextmanager
async def consolidated(
    tmp_path: Path, notes: Path, size: tuple[int, int] = (120, 40)
) -> AsyncIterator[Drive]:
    """A workstation on the consolidated notes."""
    given = options(tmp_path / "s.duckdb", notes)
    async with on_session(lambda: Session(given), size) as driven:
        await driven.press("c")
        yield driven


async def test_dropping_below_the_threshold_is_told_without_alarm(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes) as driven:
        await driven.press("4", "right_square_bracket", "right_square_bracket")
        assert "below 0.05" in driven.text and "nothing is removed before prune" in driven.text
        assert "will fall" not in driven.text
        await driven.press("7")
        assert "above 0.05" in driven.text and "alive" not in driven.text


async def test_what_was_used_stands_first_in_the_list_of_what_drops(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes) as driven:
        await driven.press("2", "e")
        await driven.type("the tide", "enter")
        await driven.press("4", *["right_square_bracket"] * 5)
        pane = driven.app.pane("decay")
        assert isinstance(pane, DecayPane) and pane.forecast is not None
        uses = [row.uses for row in pane.forecast.rows]
        assert any(uses) and not all(uses)
        assert [bool(times) for times in uses] == sorted((bool(times) for times in uses), reverse=True)


async def test_the_cursor_of_the_list_never_stands_on_another_block_than_the_curve(
    tmp_path: Path, notes: Path
) -> None:
    async with consolidated(tmp_path, notes) as driven:
        await driven.press("4", *["right_square_bracket"] * 5)
        pane = driven.app.pane("decay")
        assert isinstance(pane, DecayPane) and pane.rows > 1
        outside, inside = (row.block for row in pane.listed[:2])
        pane.use_sift(pane.sift.filtered(f'"title={inside.title}"'))
        await driven.settle()
        driven.app.pick(outside.id)
        await driven.settle()
        assert pane.curve is not None and pane.curve.block.id == outside.id
        assert pane._marked is None
        await driven.press("down")
        assert pane._marked == pane.listed[0].block.id == driven.app.selected


async def test_a_path_is_asked_for_by_words_and_no_id_is_typed(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes) as driven:
        await driven.press("slash")
        await driven.type("night, part 1", "enter")
        await driven.press("3", "w")
        finder = driven.app.screen
        assert isinstance(finder, Finder) and "Path from “The night, part 1” to" in driven.text
        assert "neighbour" in driven.text
        await driven.type("dome, part 1", "enter")
        assert "graph path" in driven.text and "links_to" in driven.text
        assert driven.app.selected is not None and isinstance(driven.app.pane("graph"), GraphPane)


async def test_the_table_of_edges_has_heads_in_every_size(tmp_path: Path, notes: Path) -> None:
    async with consolidated(tmp_path, notes, (80, 24)) as driven:
        await driven.press("slash")
        await driven.type("night, part 1", "enter")
        await driven.press("3", "h", "h")
        head = next(line for line in driven.lines if "edges" in line and "─" in line)
        assert all(name in head for name in ("wgt", "cnf", "strength"))
